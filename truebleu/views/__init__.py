"""Views of results: explanations, comparisons, reports and histories, and how they are drawn."""
