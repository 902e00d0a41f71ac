// What a policy would say of facts that the caller writes, and by analysis, without making it apply. Nothing here changes
// anything.

import { invalidRequest } from '#src/platform/http/validate.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Outbound } from '#src/platform/net/outbound.ts'
import { createSlice } from '#src/platform/slices.ts'
import { analyzePolicy, type PolicyAnalysis, type PolicyFinding, unreachableApprovals } from './analyze.ts'
import { type CompiledPolicy, compilePolicy } from './compile.ts'
import type { PolicyReader } from './current.ts'
import type { PolicyDocument } from './document.ts'
import { evaluateContexts, type PolicyAnswers, type PolicyEvaluation, type PolicyFacts } from './evaluate.ts'
import type { Policies } from './policies.ts'

export interface TrialDeps {
  policies: Pick<Policies, 'countRoles' | 'get' | 'getVersion' | 'problemsOf'>
  reader: Pick<PolicyReader, 'compiledOf'>
  outbound: Pick<Outbound, 'check'>
}

export type Trials = ReturnType<typeof createTrials>

export function createTrials({ policies, reader, outbound }: TrialDeps) {
  async function getCompiled(scope: Scope, draft: PolicyDocument | undefined, version: number | undefined) {
    if (draft !== undefined) return { version: null, compiled: compileDraft(policies, scope, draft) }
    const row = version === undefined ? await policies.get(scope) : await policies.getVersion(scope, version)
    return { version: row.version, compiled: reader.compiledOf(row.document, row.digest) }
  }

  return {
    async simulate(
      scope: Scope,
      {
        draft,
        version,
        contexts,
        answers,
      }: {
        draft?: PolicyDocument | undefined
        version?: number | undefined
        contexts: readonly PolicyFacts[]
        answers: PolicyAnswers
      },
    ): Promise<{ version: number | null; evaluation: PolicyEvaluation }> {
      const policy = await getCompiled(scope, draft, version)
      const evaluation = evaluateContexts(policy.compiled, contexts, answers, { includesUnmatched: true })
      return { version: policy.version, evaluation }
    },

    async analyze(scope: Scope, draft: PolicyDocument | undefined): Promise<PolicyAnalysis> {
      const document = draft ?? (await policies.get(scope)).document
      const slice = createSlice()
      const steps = analyzePolicy(document)
      for (;;) {
        const step = steps.next()
        if (step.done === true) {
          const { findings, isComplete } = step.value
          const unreachable = unreachableApprovals(document, await policies.countRoles(scope))
          return { findings: [...findings, ...unreachable, ...unreachableOf(document, scope)], isComplete }
        }
        if (slice.isOver()) await slice.next()
      }
    },
  }

  function unreachableOf({ rules }: PolicyDocument, { environment }: Scope): PolicyFinding[] {
    return rules.flatMap(({ id, require }, index) => {
      const checked = require.webhook && outbound.check(require.webhook.url, environment)
      if (checked === undefined || checked.ok) return []
      const pointer = `/rules/${index}/require/webhook/url`
      return [{ code: 'webhook_unreachable' as const, rule_id: id, pointer, detail: checked.detail }]
    })
  }
}

/** Not kept: a draft is rarely tried twice. @throws {Failure} `invalid_request` with pointers below `/draft`. */
export function compileDraft(
  policies: Pick<Policies, 'problemsOf'>,
  { environment }: Scope,
  draft: PolicyDocument,
): CompiledPolicy {
  const errors = policies.problemsOf(draft, environment).map(inDraft)
  if (errors.length > 0) throw invalidRequest(errors)
  return compilePolicy(draft)
}

function inDraft<Problem extends { pointer: string }>(error: Problem): Problem {
  return { ...error, pointer: `/draft${error.pointer}` }
}
