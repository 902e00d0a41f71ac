// The TypeScript client answers every case of the families that it implements.

import { describe, expect, it } from 'vitest'
import { answerTo, loadAnswers } from '../../tools/vectors/answers.ts'
import { readVectors } from '../../tools/vectors/file.ts'

const answers = await loadAnswers('typescript')

describe.each(Object.entries(answers))('%s', (name, answer) => {
  it.each(readVectors(name).cases)('$id: $title', async (vector) => {
    expect(await answerTo(answer, vector)).toEqual(vector.expect)
  })
})
