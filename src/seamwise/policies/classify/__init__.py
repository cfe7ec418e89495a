"""Classifiers for `refine`: turn exceptions of clients, drivers and SDKs into errors."""

from seamwise.policies.classify.anthropic import anthropic as anthropic
from seamwise.policies.classify.gemini import gemini as gemini
from seamwise.policies.classify.openai import openai as openai
