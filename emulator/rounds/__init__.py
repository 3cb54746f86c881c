"""The controller of an emulated cluster that is scheduled round by round."""
