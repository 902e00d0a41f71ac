// The groups of methods of the client libraries, which are the tags of the OpenAPI document too, and what a route says
// about its method.

export const SDK_GROUPS = {
  intent: {
    tag: 'Intents',
    description:
      'Tokens for actions that a person authorized an agent to run, their revocation, and the stop of all agents.',
  },
  approvals: {
    tag: 'Approvals',
    description: 'Actions of agents that people have to approve, and their decisions.',
  },
  passkeys: {
    tag: 'Passkeys',
    description: 'Credentials with which people confirm actions: by face, finger or device.',
  },
  mandates: {
    tag: 'Mandates',
    description: 'Permissions that people grant to agents: constraints, budgets, check-ins and delegation.',
  },
  schedules: {
    tag: 'Schedules',
    description: 'Payments that an agent may make to one counterparty, once in each cycle.',
  },
  clinical: {
    tag: 'Clinical',
    description:
      'Clinician orders and their signatures, prescribers, exclusion lists, the clinical policy, and incident reports.',
  },
  agents: {
    tag: 'Agents',
    description: 'Software that acts on another party’s behalf: registration, sessions and suspension.',
  },
  policy: {
    tag: 'Policy',
    description:
      'Rules that say which actions may run under which conditions, in versions, and the secret of policy webhooks.',
  },
  decisions: {
    tag: 'Decisions',
    description: 'Every recorded decision, its explanation, and proofs that no entry was changed or left out.',
  },
  claims: {
    tag: 'Claims',
    description: 'Signed captures, one or thousands at once, their findings, and the combined result for each claim.',
  },
  cases: { tag: 'Cases', description: 'Decisions of adjusters about claims, with reasons and due dates.' },
  media: { tag: 'Media', description: 'Uploads and downloads of photos and videos, and the anchors of C2PA.' },
  screenings: { tag: 'Screenings', description: 'Scores that a detector of synthetic media gives an image.' },
  devices: { tag: 'Devices', description: 'Devices that may sign, and the authorities that certify them.' },
  trace: {
    tag: 'Trace',
    description:
      'Language models, their inferences and what is inside them; canaries, the kill switch and session locks; diffs; shares.',
  },
  webhooks: { tag: 'Webhooks', description: 'Endpoints that receive events, and the log of each delivery.' },
  events: {
    tag: 'Events',
    description: 'Events in order, for receivers that take no webhooks, and the types of events.',
  },
  account: {
    tag: 'Account',
    description: 'The account, its API keys, requirements for captures, products, usage and audit log.',
  },
  org: { tag: 'Organization', description: 'The users of an account, their roles, and invites.' },
  auth: { tag: 'Sign-in', description: 'Sign-in of people, and their sessions. Programs use API keys.' },
  analytics: {
    tag: 'Analytics',
    description:
      'Reports: claims by day, factors by the outcome of cases, decisions by reason, spend by mandate, approvals by age, ' +
      'tokens that were never used.',
  },
  overview: {
    tag: 'Overview',
    description:
      'Work that waits for you, a search over all objects, every reason code, and the changes of this interface.',
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
