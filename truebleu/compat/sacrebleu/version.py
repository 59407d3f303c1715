"""The version of sacreBLEU that this package stands in for, in the names programs look for."""

__version__ = version = "2.6.0"
__version_tuple__ = version_tuple = (2, 6, 0)
__commit_id__ = commit_id = None
