// The service's own code answers every case of every family.

import { describe, expect, it } from 'vitest'
import { answerTo, loadAnswers } from '../../tools/vectors/answers.ts'
import { readVectors } from '../../tools/vectors/file.ts'

const answers = await loadAnswers('service')

describe.each(Object.entries(answers))('%s', (name, answer) => {
  it.each(readVectors(name).cases)('$id: $title', async (vector) => {
    expect(await answerTo(answer, vector)).toEqual(vector.expect)
  })
})
