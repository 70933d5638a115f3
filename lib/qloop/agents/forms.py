"""The names of the forms that an agent's output can have; `readers.table` has their readers."""

TEXT = "text"

FORMS = (TEXT,)
