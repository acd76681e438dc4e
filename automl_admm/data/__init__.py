"""Reading tables, telling columns apart, and setting rows aside."""
