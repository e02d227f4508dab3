import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # the package lab32, also where no .venv points to it
os.environ["MPLBACKEND"] = "agg"
