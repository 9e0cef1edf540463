"""The demo's sources and the instructions of its task families.

Owns the wording shared by task files and training pairs, so that they cannot drift apart.
"""

from __future__ import annotations

SAME_IMAGE = "Find the same category image with the provided image:"
SAME_MRI = "Find the same category MRI series with the provided MRI series:"
T1_TO_T2 = "Find a T2-weighted MRI series that matches the given T1-weighted MRI series:"
T2_TO_T1 = "Find a T1-weighted MRI series that matches the given T2-weighted MRI series:"
XRAY_TO_CT = "Find a CT series that matches the given chest X-ray image:"
IMAGE_QUESTION = "Represent the given image with the following question:"
SLICES_QUESTION = "Represent the given list of images with the following question:"
CT_QUESTION = "Represent the given CT series with the following question:"
MRI_QUESTION = "Represent the given MRI series with the following question:"
XRAY_REPORT = "Represent the given chest X-ray image for radiology report retrieval:"
CT_REPORT = "Find a detailed report summarizing the given CT series:"
IMAGE_OF_CATEGORY = "Find an image that matches the given category:"
CT_OF_REPORT = "Find a CT series that matches the given report:"
REGION = "Locate the specific region that corresponds to the provided text description."
IMPRESSION = "Identifying impressions based on given radiology findings."
ANSWER = "Find the answer of the given question:"

ASK_CHEST = "What is the radiological abnormal findings observed in this chest X-ray?"
ASK_CHEST_CT = "What is the pathological finding represented in this list of images?"
ASK_SKIN = "What is the dermatological condition observed in this image?"

FAMILIES = ("I-I", "MB-VR", "I-Lab", "I-Rep", "T-I", "VQA", "VG", "T-T")
