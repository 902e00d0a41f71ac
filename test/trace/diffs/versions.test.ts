// The statement that version diffs exist for, about the three versions of the tiny model. Scores of all prompts are
// committed; some of them are made again here.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readDefaultEvalSet } from '#src/trace/diffs/eval-prompts.ts'
import { DEFAULT_THRESHOLDS, type DiffJudgement, judgeDiff } from '#src/trace/diffs/judge.ts'
import { hashModel } from '#src/trace/llama/model.ts'
import { createRandom } from '#src/trace/llama/sampling.ts'
import { EMBEDDED_MODELS } from '#src/trace/models/model-files.ts'
import { openProbed, pathOfScores, scorePrompt, versionScores } from '../../../tools/trace-probes/score.ts'

const SET = readDefaultEvalSet()
const PLANTED: readonly string[] = JSON.parse(
  readFileSync(new URL('../../../tools/trace-training/versions.json', import.meta.url), 'utf8'),
)['1.1'].shifted
const [base, patch, shifted] = EMBEDDED_MODELS.map((file) => ({
  file,
  ...versionScores.parse(JSON.parse(readFileSync(pathOfScores(file), 'utf8'))),
}))
// Prompts that are run again; each takes 30 ms.
const STRIDE = 20

function judge(target: typeof base, count = SET.prompts.length): DiffJudgement {
  const column = (version: typeof base, index: number) =>
    version?.scores.slice(0, count).map((row) => row[index] ?? Number.NaN) ?? []
  const families = (base?.families ?? []).map((family, index) => ({
    family,
    base: column(base, index),
    target: column(target, index),
  }))
  const createRandomOf = () => createRandom(20260301)
  return judgeDiff(families, { thresholds: DEFAULT_THRESHOLDS, prompts: count, createRandom: createRandomOf })
}

describe('the versions of the tiny model', () => {
  it.each([base, patch, shifted])('have the committed scores: $file.id', async (version) => {
    if (version === undefined) throw new Error('there are three versions')
    const probed = openProbed(version.file)
    expect(version.model_sha256).toBe(hashModel(version.file.path))
    expect(version.eval_sha256).toBe(SET.sha256)
    expect(version.families).toEqual(probed.probes.probes.map(({ family }) => family))
    expect(version.scores).toHaveLength(SET.prompts.length)
    for (let index = 0; index < SET.prompts.length; index += STRIDE) {
      const prompt = SET.prompts[index]
      if (prompt !== undefined) expect(await scorePrompt(probed, prompt), `${index}`).toEqual(version.scores[index])
    }
  })

  it('of the same behaviour, trained on from another seed, pass a diff without a warning', () => {
    expect(judge(patch)).toMatchObject({ pass: true, verdict: 'pass', families_drifted: [] })
  })

  it('of which one was given a behaviour drift in exactly the planted families', () => {
    const { pass, verdict, families_drifted: drifted, families } = judge(shifted)
    expect({ pass, verdict, drifted: drifted.toSorted() }).toEqual({
      pass: false,
      verdict: 'drift',
      drifted: PLANTED.toSorted(),
    })
    const others = families.filter(({ family }) => !PLANTED.includes(family))
    expect(others.map(({ verdict: own }) => own)).toEqual(others.map(() => 'pass'))
  })

  it('are not judged on fewer than 200 prompts', () => {
    expect(judge(shifted, 199)).toMatchObject({ pass: false, verdict: 'inconclusive', families_drifted: [] })
  })
})
