"""Probe two classifiers of scikit-learn's wines in the browser: python whatif_wine.py

Opens the page What-If for both models; edit a wine, look at who is failed, press Ctrl C to end.
"""

import sonde
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

frame = load_wine(as_frame=True).frame
features = frame.drop(columns="target")
linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(features[::2], frame["target"][::2])
forest = RandomForestClassifier(50, random_state=0).fit(features[::2], frame["target"][::2])

with sonde.whatif(frame, predict={"linear": linear, "forest": forest}, label="target") as page:
    print(page)
    try:
        page.wait()
    except KeyboardInterrupt:
        pass
