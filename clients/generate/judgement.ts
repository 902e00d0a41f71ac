// Which operations a model may call. Reads are judged by their group; each change is listed by name, as allowed or with the reason
// why not. An operation that nothing here judges stops the generator, so no new one reaches a model before someone decided it.

import { type Api, type Operation, sdkOf } from './operations.ts'
import { getType, type Member, membersOf, type NamedType, partsOf, type Shape } from './shapes.ts'

export interface Judgement {
  allowed: readonly Operation[]
  /** Operations that are no tools, and why. */
  excluded: readonly { operation: Operation; reason: string }[]
}

/** The allowed changes: they run, report or stop something, or prepare work for people who then decide. */
const ALLOWED_CHANGES = [
  'agents.retire',
  'agents.sessions.create',
  'agents.sessions.end',
  'agents.suspend',
  'cases.create',
  'cases.notes.create',
  'cases.update',
  'claims.attest',
  'claims.attestations.retry',
  'claims.batches.cancel',
  'claims.batches.create',
  'claims.erase',
  'devices.revoke',
  'intent.authorize',
  'intent.executions.report',
  'intent.revocations.create',
  'intent.stop',
  'intent.verify',
  'mandates.revoke',
  'schedules.cancel',
  'schedules.pause',
  'screenings.batches.create',
  'screenings.create',
  'trace.check',
  'trace.diffs.cancel',
  'trace.diffs.create',
  'trace.disclosures.revoke',
  'trace.evalSets.create',
  'trace.evalSets.delete',
  'trace.graphs.create',
  'trace.inferences.create',
  'trace.interventions.create',
  'trace.jobs.cancel',
  'trace.jobs.create',
  'trace.shares.revoke',
  'trace.texts.delete',
  'webhooks.deliveries.redeliver',
  'webhooks.recoveries.create',
  'webhooks.test',
] as const

/** Requests that compute an answer and change nothing. */
const ALLOWED_QUESTIONS = [
  'account.riskPolicy.dryRun',
  'decisions.verifyChain',
  'policy.analyze',
  'policy.replay',
  'policy.simulate',
  'policy.validate',
  'trace.killSwitch.preview',
] as const

const READABLE_GROUPS = [
  'account',
  'agents',
  'analytics',
  'approvals',
  'cases',
  'claims',
  'decisions',
  'devices',
  'events',
  'intent',
  'mandates',
  'media',
  'org',
  'overview',
  'policy',
  'schedules',
  'screenings',
  'trace',
  'webhooks',
] as const

const SIGN_IN = 'Sign-in belongs to people.'
const PASSKEYS = 'Passkeys prove that a person confirms.'
const APPROVAL = 'A person consents to the action of an agent.'
const LIFTING = 'A person ends a stop, a suspension or a lock.'
const GRANTING = 'A person grants what an agent may do.'
const DIRECTORY = 'People connect identity providers and directories.'
const PEOPLE = 'People decide who belongs to the account.'
const SECRETS = 'The answer contains a secret.'
const ENDPOINTS = 'People decide where events go, and who signs them.'
const RULES = 'The rules say when people are asked, so people change them.'
const TRUST = 'People decide which devices and authorities are trusted.'
const ACCOUNT = 'The owner administers the account.'
const DISCLOSURE = 'A person grants or denies the view of masked neurons.'
const OUTSIDERS = 'It serves people outside the account, who have a token of their own.'
const CLINICAL = 'Clinicians act for themselves, and orders are about patients.'
const POSITION = 'It moves the position of another program.'

/** Exact names, or a group with everything below it (`auth.`). */
const EXCLUDED: Readonly<Record<string, string>> = {
  'auth.': SIGN_IN,
  'auth.sso.': DIRECTORY,
  'auth.scimTokens.': DIRECTORY,
  'passkeys.': PASSKEYS,
  'org.invites.': PEOPLE,
  'org.users.delete': PEOPLE,
  'org.users.leave': PEOPLE,
  'org.users.update': PEOPLE,
  'approvals.approve': APPROVAL,
  'approvals.deny': APPROVAL,
  'approvals.challenges.create': PASSKEYS,
  'intent.challenges.create': PASSKEYS,
  'intent.resume': LIFTING,
  'agents.unsuspend': LIFTING,
  'schedules.resume': LIFTING,
  'trace.locks.clear': LIFTING,
  'mandates.heartbeat': 'A check-in says that a person still watches the agent.',
  'mandates.create': GRANTING,
  'mandates.update': 'A change of the heartbeat counts as the check-in of a person.',
  'schedules.create': GRANTING,
  'agents.create': 'A person registers agents: a suspended one could register itself anew.',
  'agents.update': 'A person registers agents, with their owners and keys.',
  'cases.transition': 'An adjuster decides about a claim.',
  'trace.disclosures.grant': DISCLOSURE,
  'trace.disclosures.deny': DISCLOSURE,
  'trace.disclosures.request': OUTSIDERS,
  'trace.disclosures.verify': OUTSIDERS,
  'trace.shares.create': SECRETS,
  'trace.shares.update': 'A person decides how long others see a trace.',
  'trace.shares.view': OUTSIDERS,
  'trace.killSwitch.update': RULES,
  'policy.update': RULES,
  'policy.rollback': RULES,
  'policy.webhookSecret.': ENDPOINTS,
  'account.riskPolicy.update': RULES,
  'screenings.settings.update': RULES,
  'webhooks.create': SECRETS,
  'webhooks.update': ENDPOINTS,
  'webhooks.delete': ENDPOINTS,
  'webhooks.rotateSecret': SECRETS,
  'events.consumers.move': POSITION,
  'events.consumers.delete': POSITION,
  'events.pull': 'It is for programs that keep a position; the list has the same events.',
  'account.keys.create': SECRETS,
  'account.keys.rotate': SECRETS,
  'account.keys.update': ACCOUNT,
  'account.keys.revoke': ACCOUNT,
  'account.close': ACCOUNT,
  'account.reopen': ACCOUNT,
  'account.closure.': ACCOUNT,
  'account.exports.': 'The archive contains everything that the account has.',
  'account.plan.update': ACCOUNT,
  'account.products.update': ACCOUNT,
  'account.update': ACCOUNT,
  'devices.attest': TRUST,
  'devices.attestations.upload': TRUST,
  'devices.batches.create': TRUST,
  'devices.challenges.create': TRUST,
  'devices.create': TRUST,
  'devices.update': TRUST,
  'devices.roots.create': TRUST,
  'devices.roots.delete': TRUST,
  'media.c2paAnchors.create': TRUST,
  'media.c2paAnchors.delete': TRUST,
  'clinical.': CLINICAL,
  'claims.captures.create': 'The answer contains nonces, which are for capture devices.',
}

/** Arguments that speak for a person, the assertion of a passkey, and the format of an answer, which is JSON. No tool has them. */
const HIDDEN_ARGUMENTS = ['actor', 'approver', 'passkey_assertion', 'format']

// Members of answers that are secrets by their names. The intent token is what an agent asks for.
const SECRET = /(?:^|_)(?:secrets?|tokens?|passwords?|nonces?|challenges?|private_key|raw_key|recovery_codes?)$/
const NO_SECRETS = [
  'challenge_required',
  'intent_token',
  'max_tokens',
  'new_tokens',
  'prompt_tokens',
  'completion_tokens',
  'top_tokens',
]

/** @throws where an operation is not judged, an entry judges nothing, or an allowed answer has a member that looks like a secret. */
export function judge({ operations, types }: Api): Judgement {
  const unused = new Set<string>([...ALLOWED_CHANGES, ...ALLOWED_QUESTIONS, ...Object.keys(EXCLUDED)])
  const judged = operations.map((operation) => ({ operation, reason: reasonOf(operation, unused) }))
  if (unused.size > 0) throw new Error(`judgements of operations that do not exist: ${[...unused].join(', ')}`)
  const allowed = judged.flatMap(({ operation, reason }) => (reason === undefined ? [withoutHidden(operation)] : []))
  const secrets = allowed.flatMap((operation) =>
    [...secretsOf(operation, types)].map((member) => `${sdkOf(operation)} ${member}`),
  )
  if (secrets.length > 0) throw new Error(`allowed operations answer what looks like a secret: ${secrets.join(', ')}`)
  return {
    allowed,
    excluded: judged.flatMap(({ operation, reason }) => (reason === undefined ? [] : [{ operation, reason }])),
  }
}

function reasonOf(operation: Operation, unused: Set<string>): string | undefined {
  const name = sdkOf(operation)
  const listed = Object.keys(EXCLUDED)
    .filter((entry) => (entry.endsWith('.') ? name.startsWith(entry) : name === entry))
    .toSorted((a, b) => b.length - a.length)
  const [entry] = listed
  if (entry !== undefined) {
    unused.delete(entry)
    return EXCLUDED[entry]
  }
  const isAllowed = [...ALLOWED_CHANGES, ...ALLOWED_QUESTIONS].some((one) => one === name)
  unused.delete(name)
  const unfit = unfitReasonOf(operation)
  if (unfit !== undefined) return unfit
  if (isAllowed) return undefined
  const isRead = operation.method === 'GET' && operation.effect === 'read'
  if (isRead && READABLE_GROUPS.some((group) => group === operation.group[0])) return undefined
  throw new Error(`${name} is not judged: say in clients/generate/judgement.ts whether a model may call it, or why not`)
}

/** What a model can't do by its nature, whatever the operation is about. */
function unfitReasonOf({ group, body, answer }: Operation): string | undefined {
  if (body?.kind === 'bytes') return 'A model has no files to send.'
  if (answer.kind === 'lines') return 'The answer is a file for programs; the lists have the same rows.'
  if (answer.kind !== 'bytes') return undefined
  return group[0] === 'media' ? 'Media are resources, to which results link.' : 'The answer is a file for programs.'
}

function withoutHidden(operation: Operation): Operation {
  const { query, body } = operation
  const isShown = ({ name }: Member) => !HIDDEN_ARGUMENTS.includes(name)
  const required = [...query, ...(body?.kind === 'json' ? (body.members ?? []) : [])].find(
    (member) => member.isRequired && !isShown(member),
  )
  if (required !== undefined) throw new Error(`${sdkOf(operation)} is allowed and requires ${required.name}`)
  const shown = { ...operation, query: query.filter(isShown) }
  if (body?.kind !== 'json' || body.members === undefined) return shown
  return { ...shown, body: { ...body, members: body.members.filter(isShown) } }
}

function secretsOf({ answer }: Operation, types: ReadonlyMap<string, NamedType>): Set<string> {
  const found = new Set<string>()
  const seen = new Set<string>()
  const visit = (shape: Shape): void => {
    if (shape.kind === 'named') {
      if (seen.has(shape.name)) return
      seen.add(shape.name)
      visit(getType(shape.name, types).shape)
      return
    }
    if (shape.kind === 'object') {
      for (const { name, shape: inner } of membersOf(shape, types)) {
        const isText =
          inner.kind === 'text' || (inner.kind === 'union' && inner.options.some((one) => one.kind === 'text'))
        if (isText && SECRET.test(name) && !NO_SECRETS.includes(name)) found.add(name)
      }
    }
    for (const part of partsOf(shape)) visit(part)
  }
  if (answer.kind === 'json' || answer.kind === 'page') visit(answer.shape)
  return found
}
