// The groups of methods of the client libraries, which are the tags of the OpenAPI document too, and what a route says
// about its method.

export const SDK_GROUPS = {
  intent: {
    tag: 'Intents',
    description: 'Tokens for what a person authorized an agent to do, their revocation and the stop of all.',
  },
  approvals: {
    tag: 'Approvals',
    description: 'The actions of agents that people have to approve, and what they decided.',
  },
  passkeys: { tag: 'Passkeys', description: 'What people confirm actions with: their faces, fingers and devices.' },
  mandates: {
    tag: 'Mandates',
    description: 'What people let agents do: constraints, budgets, check-ins and delegation.',
  },
  schedules: { tag: 'Schedules', description: 'What an agent may pay to one counterparty, once in each cycle.' },
  agents: { tag: 'Agents', description: 'Software that acts for somebody: its sessions, and its suspension.' },
  policy: {
    tag: 'Policy',
    description:
      'Which actions may run and under which conditions: rules in versions, and the secret of policy webhooks.',
  },
  decisions: {
    tag: 'Decisions',
    description: 'Every decision on record, its explanation, and proofs that nothing was changed or left out.',
  },
  claims: {
    tag: 'Claims',
    description: 'Signed captures, one or thousands at once, what was found, and the combined result for each claim.',
  },
  cases: { tag: 'Cases', description: 'What adjusters decide about claims, why, and by when.' },
  media: { tag: 'Media', description: 'Uploading and downloading photos and videos, and the anchors of C2PA.' },
  screenings: { tag: 'Screenings', description: 'Scores of a detector of synthetic media for an image.' },
  devices: { tag: 'Devices', description: 'Which devices may sign, and which authorities certify them.' },
  trace: {
    tag: 'Trace',
    description:
      'Language models, their inferences and what is inside them; canaries, the kill switch and session locks; diffs; shares.',
  },
  webhooks: { tag: 'Webhooks', description: 'Where events are sent, and the log of each delivery.' },
  events: {
    tag: 'Events',
    description: 'What happened, in order, for receivers that take no webhooks; and the types of events.',
  },
  account: {
    tag: 'Account',
    description: 'The account, its API keys, requirements for captures, products, usage and audit log.',
  },
  org: { tag: 'Organization', description: 'The users of an account, their roles, and invites.' },
  auth: { tag: 'Sign-in', description: 'How people sign in, and their sessions. Programs use API keys.' },
  analytics: {
    tag: 'Analytics',
    description: 'Reports over the decisions: spend by mandate, approvals by age, tokens that were never used.',
  },
} as const satisfies Record<string, { tag: string; description: string }>

/** The tag of routes without a method. */
export const SERVICE_TAG = { tag: 'Service', description: 'Health, public keys, AuthZEN and this document.' } as const

export type SdkGroup = keyof typeof SDK_GROUPS

/**
 * The method of the client libraries: a group, sub-groups and a verb (create, list, retrieve, update, delete, or a named
 * act), in camelCase. `none` is the reason why the libraries have no method.
 */
export type SdkMethod = `${SdkGroup}.${string}` | { none: string }

/** `read` changes nothing; `destructive` revokes, erases, suspends, stops, deletes or closes. */
export type RouteEffect = 'read' | 'write' | 'destructive'

/**
 * How a library calls it: `list` goes through pages, `upload` sends a raw body, `download` gets one, `lines` gets NDJSON,
 * and `wait` may be answered only when a result is there.
 */
export type CallKind = 'call' | 'list' | 'upload' | 'download' | 'wait' | 'lines'

export function tagOf(sdk: SdkMethod): string {
  if (typeof sdk !== 'string') return SERVICE_TAG.tag
  return SDK_GROUPS[sdk.slice(0, sdk.indexOf('.')) as SdkGroup].tag
}
