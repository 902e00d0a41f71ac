// What a policy would say of facts that the caller writes, and by analysis, without making it apply. Nothing here changes
// anything.

import { invalidRequest } from '#src/platform/http/validate.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Outbound } from '#src/platform/net/outbound.ts'
import { createSlice } from '#src/platform/slices.ts'
import {
  analyzePolicy,
  type PolicyAnalysis,
  type PolicyFinding,
  unreachableApprovals,
  webhooksWithoutSecret,
} from './analyze.ts'
import { type CompiledPolicy, compilePolicy } from './compile.ts'
import type { PolicyReader } from './current.ts'
import type { PolicyDocument } from './document.ts'
import { evaluateContexts, type PolicyAnswers, type PolicyEvaluation, type PolicyFacts } from './evaluate.ts'
import { inBody, type Policies } from './policies.ts'

export interface TrialDeps {
  policies: Pick<Policies, 'countRoles' | 'get' | 'getVersion' | 'problemsOf'>
  reader: Pick<PolicyReader, 'compiledOf'>
  outbound: Pick<Outbound, 'check'>
  /** Whether questions to policy webhooks can be signed. Without a secret none is sent. */
  hasWebhookSecret(scope: Scope): Promise<boolean>
}

export type Trials = ReturnType<typeof createTrials>

export function createTrials({ policies, reader, outbound, hasWebhookSecret }: TrialDeps) {
  async function getCompiled(scope: Scope, document: PolicyDocument | undefined, version: number | undefined) {
    if (document !== undefined) return { version: null, compiled: compileSent(policies, scope, document) }
    const row = version === undefined ? await policies.get(scope) : await policies.getVersion(scope, version)
    return { version: row.version, compiled: reader.compiledOf(row.document, row.digest) }
  }

  return {
    async simulate(
      scope: Scope,
      {
        document,
        version,
        contexts,
        answers,
      }: {
        document?: PolicyDocument | undefined
        version?: number | undefined
        contexts: readonly PolicyFacts[]
        answers: PolicyAnswers
      },
    ): Promise<{ version: number | null; evaluation: PolicyEvaluation }> {
      const policy = await getCompiled(scope, document, version)
      const evaluation = evaluateContexts(policy.compiled, contexts, answers, { includesUnmatched: true })
      return { version: policy.version, evaluation }
    },

    async analyze(scope: Scope, sent: PolicyDocument | undefined): Promise<PolicyAnalysis> {
      const document = sent ?? (await policies.get(scope)).document
      const slice = createSlice()
      const steps = analyzePolicy(document)
      for (;;) {
        const step = steps.next()
        if (step.done === true) {
          const { findings, isComplete } = step.value
          const unreachable = unreachableApprovals(document, await policies.countRoles(scope))
          const unsigned = (await hasWebhookSecret(scope)) ? [] : webhooksWithoutSecret(document)
          const all = [...findings, ...unreachable, ...unreachableOf(document, scope), ...unsigned]
          return { findings: all, isComplete }
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

/** Not kept: a document is rarely tried twice. @throws {Failure} `invalid_request` with pointers below `/document`. */
export function compileSent(
  policies: Pick<Policies, 'problemsOf'>,
  { environment }: Scope,
  document: PolicyDocument,
): CompiledPolicy {
  const errors = policies.problemsOf(document, environment).map(inBody)
  if (errors.length > 0) throw invalidRequest(errors)
  return compilePolicy(document)
}
