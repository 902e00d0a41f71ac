// Who runs which vectors: the service's own code, and the TypeScript client where it implements a family. Tests and the run
// of mutants use the same answers, so that a check which a mutant lacks is one that a test would miss.

import { isDeepStrictEqual } from 'node:util'
import type { VectorCase } from './file.ts'

/** What the code answers to a case. Equals `expect` of the case, unless the code does not implement a part of it. */
export type Answer = (input: never, expected: never) => unknown

/** Answers by the name of the file, such as `tokens/offline`. */
export type Answers = Record<string, Answer>

export type Runner = 'service' | 'typescript'

type AnswerModule = { answers: Answers }

const MODULES: Readonly<Record<Runner, readonly (() => Promise<AnswerModule>)[]>> = {
  service: [
    () => import('./answers/service-canonical.ts'),
    () => import('./answers/service-ledger.ts'),
    () => import('./answers/service-packets.ts'),
    () => import('./answers/service-passkeys.ts'),
    () => import('./answers/service-policy.ts'),
    () => import('./answers/service-tokens.ts'),
    () => import('./answers/service-webhooks.ts'),
  ],
  typescript: [() => import('./answers/typescript.ts')],
}

export async function loadAnswers(runner: Runner): Promise<Answers> {
  const modules = await Promise.all(MODULES[runner].map((load) => load()))
  return Object.assign({}, ...modules.map(({ answers }) => answers))
}

export async function answerTo(answer: Answer, { input, expect }: VectorCase): Promise<unknown> {
  return answer(input as never, expect as never)
}

/** Whether the code answers as the case says. An error is no answer. */
export async function isAnswered(answer: Answer, vector: VectorCase): Promise<boolean> {
  try {
    return isDeepStrictEqual(await answerTo(answer, vector), vector.expect)
  } catch {
    return false
  }
}
