"""Adapters for agent frameworks. Each needs its framework, and is imported by name:
``cordon.adapters.langchain``, ``cordon.adapters.smolagents``, ``cordon.adapters.pydantic_ai``.
"""
