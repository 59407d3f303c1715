"""What people look at: explanations, comparisons, reports and histories, and how they are drawn."""
