-- The bare query that judging is held against: the same joins and counts over the same predictions file.
-- `inputs` is the corpus as judging holds it (id, reference, subgroup g0); {predictions} is the path of the file.
WITH predictions AS (
    SELECT id, count(*) AS lines, min(prediction) AS prediction
    FROM read_json({predictions}, format = 'newline_delimited', columns = {id: 'VARCHAR', prediction: 'VARCHAR'})
    GROUP BY id
)
SELECT
    inputs.reference,
    predictions.prediction,
    inputs.g0,
    inputs.id IS NULL AS unexpected,
    predictions.id IS NULL AS missing,
    predictions.lines,
    count(*)
FROM inputs
FULL JOIN predictions ON inputs.id = predictions.id
GROUP BY ALL
