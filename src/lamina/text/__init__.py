"""Text in English, Thai and Chinese; pure."""
