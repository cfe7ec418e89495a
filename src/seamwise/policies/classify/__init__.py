"""Classifiers for `refine`: turn exceptions of clients, drivers and SDKs into errors."""

from seamwise.policies.classify.anthropic_sdk import anthropic as anthropic
from seamwise.policies.classify.gemini_sdk import gemini as gemini
from seamwise.policies.classify.openai_sdk import openai as openai
from seamwise.policies.classify.standard import standard_failures as standard_failures
