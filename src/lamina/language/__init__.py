"""What people write: what it says, what it asks for, and what in it is secret. Pure; the rules are data.

Lamina's reader of human language, in English, Thai and Chinese. It knows the nouns of `lamina.model` and
the views of `lamina.text`, and nothing of stores, files or policies.
"""
