"""The clients that the tests run, each pinned, with its settings and its runner's table."""

from client_install import Package
from client_world import Client

CLAUDE = Client(
    Package("claude", "npm", "@anthropic-ai/claude-code", "2.1.332"),
    model="sonnet",
    key="ANTHROPIC_API_KEY",
    url="ANTHROPIC_BASE_URL",
    env={"CLAUDE_CODE_MAX_RETRIES": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
    table="""
[runners.claude]
argv = ["claude", "-p", "--model", "{model}", "--permission-mode", "acceptEdits",
        "--allowedTools", "Bash(git add:*),Bash(git commit:*)"]
env = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_*"]
""",
)
CODEX = Client(
    Package("codex", "npm", "@openai/codex", "0.171.0"),
    model="gpt-5",
    key="CODEX_API_KEY",
    settings={
        ".codex/config.toml": """
model_provider = "here"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
[model_providers.here]
name = "here"
base_url = "{url}/v1"
env_key = "CODEX_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
"""
    },
    table="""
[runners.codex]
argv = ["codex", "exec", "--sandbox", "workspace-write", "--model", "{model}", "-"]
env = ["CODEX_API_KEY"]
""",
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
  "general": {"enableAutoUpdate": false, "maxAttempts": 2}
}"""
    },
    table="""
[runners.gemini]
argv = ["gemini", "--model", "{model}", "--skip-trust", "--approval-mode", "auto_edit",
        "--allowed-tools", "run_shell_command(git)"]
env = ["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"]
""",
)
QWEN = Client(
    Package("qwen", "npm", "@qwen-code/qwen-code", "0.24.4"),
    model="qwen3-coder",
    key="OPENAI_API_KEY",
    url="OPENAI_BASE_URL",
    url_path="/v1",
    settings={
        ".qwen/settings.json": """{
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false}
}"""
    },
    table="""
[runners.qwen]
argv = ["qwen", "--model", "{model}", "--auth-type", "openai", "--approval-mode", "auto-edit",
        "--allowed-tools", "run_shell_command(git)"]
env = ["OPENAI_API_KEY", "OPENAI_BASE_URL"]
""",
)
MINI = Client(
    Package("mini", "pip", "mini-swe-agent", "2.4.6"),
    model="openai/gpt-4o",
    key="OPENAI_API_KEY",
    url="OPENAI_BASE_URL",
    url_path="/v1",
    env={
        "MSWEA_SILENT_STARTUP": "1",
        "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "2",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    },
    table="""
[runners.mini]
argv = ["mini", "--model", "{model}", "--yolo", "--exit-immediately", "--config", "mini.yaml",
        "--config", "agent.step_limit=100", "--cost-limit", "3", "--task", "{prompt}"]
prompt = "argument"
env = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "MSWEA_*", "LITELLM_*"]
set_env.MSWEA_CONFIGURED = "true"
""",
)
CLIENTS = (CLAUDE, CODEX, GEMINI, QWEN, MINI)
