"""The clients that the tests run, each pinned, with what its user would set."""

from client_install import Package
from client_world import Client

CLAUDE = Client(
    Package("claude", "npm", "@anthropic-ai/claude-code", "2.1.332"),
    model="sonnet",
    key="ANTHROPIC_API_KEY",
    url="ANTHROPIC_BASE_URL",
    env={"CLAUDE_CODE_MAX_RETRIES": "1", "IS_SANDBOX": "1"},
)
CODEX = Client(
    Package("codex", "npm", "@openai/codex", "0.171.0"),
    model="gpt-5",
    key="CODEX_API_KEY",
    settings={
        ".codex/config.toml": """
model_provider = "here"
[model_providers.here]
name = "here"
base_url = "{url}/v1"
env_key = "CODEX_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
"""
    },
    sandbox=("codex", "sandbox", "--", "true"),
)
GEMINI = Client(
    Package("gemini", "npm", "@google/gemini-cli", "0.61.0"),
    model="gemini-2.5-flash",
    key="GEMINI_API_KEY",
    url="GOOGLE_GEMINI_BASE_URL",
    settings={
        ".gemini/settings.json": """{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"maxAttempts": 2}
}"""
    },
)
QWEN = Client(
    Package("qwen", "npm", "@qwen-code/qwen-code", "0.24.4"),
    model="qwen3-coder",
    key="OPENAI_API_KEY",
    url="OPENAI_BASE_URL",
    url_path="/v1",
    settings={
        ".qwen/settings.json": """{
  "model": {"generationConfig": {"maxRetries": 0}}
}"""
    },
)
MINI = Client(
    Package("mini", "pip", "mini-swe-agent", "2.4.6"),
    model="openai/gpt-4o",
    key="OPENAI_API_KEY",
    url="OPENAI_BASE_URL",
    url_path="/v1",
    env={"MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "1"},
    full=True,
)
CLIENTS = (CLAUDE, CODEX, GEMINI, QWEN, MINI)
