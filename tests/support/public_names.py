"""What is public, and what of it is only handed out."""

# made by hideseek for its users, and only kept: what stands in them is what was put there
RESULTS = {
    *("Answer", "Comparison", "Coverage", "Curve", "Estimate", "Fleet", "Foresight", "Label", "LeastLoss", "LiveLabel"),
    *("PeopleComparison", "PersonLabel", "Protection"),
    "MapPage",
    *("Candidate", "TwoLabels"),
    *("ReadReport", "Reproduction", "Solution", "Study", "Certificate", "Claim"),
}
