import type { Readable } from 'node:stream'
import { z } from 'zod'
import {
  documentMembers,
  parseVersion,
  replyVersion,
  requireIfMatch,
  toDocumentView,
  toVersionView,
  versionMembers,
  versionParams,
} from '#src/platform/http/documents.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { pageQuery } from '#src/platform/http/page.ts'
import type { ClinicalPolicies, StoredClinicalPolicy, StoredFormulary } from './clinical-policies.ts'
import { clinicalPolicySchema, scheduleSchema } from './policy-document.ts'

const POLICY = '/v1/clinical/policy'
const FORMULARY = '/v1/clinical/formulary'
const MAX_FORMULARY_BYTES = 2 * 1024 * 1024
const reading = { scope: 'admin', permission: 'policy.read', needsAccountKey: true } as const
const writing = { scope: 'admin', permission: 'clinical_policy.write', needsAccountKey: true } as const

const warning = z.enum(['cosigner_unavailable']).meta({
  id: 'ClinicalPolicyWarning',
  description:
    'cosigner_unavailable: the policy asks for a co-signature, and the plan of the account has no second user.',
})

const policyView = z
  .object({ ...documentMembers(clinicalPolicySchema), warnings: z.array(warning) })
  .meta({ id: 'ClinicalPolicy' })
const formularyView = z
  .object({ ...versionMembers, entries: z.number().int().describe('Number of concepts.') })
  .meta({ id: 'ClinicalFormulary' })
const entryView = z
  .object({ rxcui: z.string().describe('Concept id of RxNorm.'), schedule: scheduleSchema })
  .meta({ id: 'FormularyEntry' })

const toPolicyView = (policy: StoredClinicalPolicy) => ({ ...toDocumentView(policy), warnings: policy.warnings })
const answer = (policy: StoredClinicalPolicy) => replyVersion(toPolicyView(policy))
const answerFormulary = (formulary: StoredFormulary) =>
  replyVersion({ ...toVersionView(formulary), entries: formulary.entries })

export function clinicalPolicyRoutes(policies: ClinicalPolicies): Route[] {
  return [
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: POLICY,
        operationId: 'getClinicalPolicy',
        sdk: 'clinical.policy.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'Read the clinical policy, with its version as ETag',
        view: policyView,
        status: [200],
      },
      async ({ caller }) => answer(await policies.get(caller)),
    ),
    endpoint(
      {
        ...writing,
        method: 'PUT',
        audits: 'clinical_policy.changed',
        path: POLICY,
        operationId: 'replaceClinicalPolicy',
        sdk: 'clinical.policy.update',
        effect: 'write',
        kind: 'call',
        summary: 'Replace the clinical policy by a new version',
        body: z.strictObject({ document: clinicalPolicySchema }),
        view: policyView,
        status: [200],
      },
      async ({ caller, body: { document }, idempotencyKey, header }) => {
        const expected = requireIfMatch(header('If-Match'))
        return answer(await policies.put(caller, { document, expected }, idempotencyKey))
      },
      async ({ caller }, version) => answer(await policies.getVersion(caller, Number(version))),
    ),
    listEndpoint(
      {
        ...reading,
        path: `${POLICY}/versions`,
        operationId: 'listClinicalPolicyVersions',
        sdk: 'clinical.policyVersions.list',
        summary: 'List all versions of the clinical policy, newest first, and who made each',
        query: pageQuery,
        item: policyView,
      },
      ({ caller, query }) => policies.versions(caller, query),
      toPolicyView,
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: `${POLICY}/versions/:version`,
        operationId: 'getClinicalPolicyVersion',
        sdk: 'clinical.policyVersions.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'Read one version of the clinical policy',
        params: versionParams,
        view: policyView,
        status: [200],
      },
      async ({ caller, params }) => answer(await policies.getVersion(caller, parseVersion(params.version))),
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: FORMULARY,
        operationId: 'getFormulary',
        sdk: 'clinical.formulary.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'Read which formulary is in force, with its version as ETag',
        view: formularyView,
        status: [200],
      },
      async ({ caller }) => answerFormulary(await policies.formulary(caller)),
    ),
    listEndpoint(
      {
        ...reading,
        path: `${FORMULARY}/entries`,
        operationId: 'listFormularyEntries',
        sdk: 'clinical.formularyEntries.list',
        summary: 'List the concepts of the formulary, in the order of their ids',
        query: pageQuery,
        item: entryView,
      },
      ({ caller, query }) => policies.entries(caller, query),
    ),
    endpoint(
      {
        ...writing,
        method: 'PUT',
        audits: 'clinical_formulary.replaced',
        path: FORMULARY,
        operationId: 'replaceFormulary',
        sdk: 'clinical.formulary.update',
        effect: 'write',
        kind: 'upload',
        summary: 'Replace the formulary by a CSV file with the columns rxcui and schedule',
        rawBody: { contentTypes: ['text/csv'] },
        maxBodyBytes: MAX_FORMULARY_BYTES,
        view: formularyView,
        status: [200],
      },
      async ({ caller, stream, idempotencyKey, header }) => {
        const expected = requireIfMatch(header('If-Match'))
        return answerFormulary(
          await policies.replaceFormulary(caller, { csv: await bytesOf(stream), expected }, idempotencyKey),
        )
      },
      async ({ caller }) => answerFormulary(await policies.formulary(caller)),
    ),
  ]
}

// The route bounds its length.
async function bytesOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
