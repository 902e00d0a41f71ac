// What the roles of users may do. A route that takes sessions names one permission; this table says which roles have
// it. Roles are no sets of key scopes: a key's scope and a session's permission are two answers to two questions
// (specification, Teams; published at /docs/roles).

import { type Plan, ROLES, type Role } from './access.ts'

interface PermissionRow {
  /** For readers: what a holder can do. */
  allows: string
  /** Besides the owner, who may do everything. */
  roles: readonly Exclude<Role, 'owner'>[]
  /** The data of an environment. A developer may do everything with those of the sandbox. */
  isScoped: boolean
}

export const PERMISSIONS = {
  'claims.read': {
    allows: 'read claims, their results, media and evidence packets',
    roles: ['admin', 'approver', 'analyst'],
    isScoped: true,
  },
  'claims.submit': { allows: 'submit captures, media and batches', roles: ['admin'], isScoped: true },
  'claims.erase': { allows: 'erase claims', roles: ['admin'], isScoped: true },
  'cases.read': { allows: 'read cases', roles: ['admin', 'approver', 'analyst'], isScoped: true },
  'cases.write': { allows: 'work on cases', roles: ['admin', 'approver'], isScoped: true },
  'screening.read': {
    allows: 'read screenings and their batches',
    roles: ['admin', 'approver', 'analyst'],
    isScoped: true,
  },
  'screening.use': { allows: 'screen media', roles: ['admin', 'approver'], isScoped: true },
  'devices.read': { allows: 'read devices and root CAs', roles: ['admin', 'approver', 'analyst'], isScoped: true },
  'devices.write': { allows: 'enroll and revoke devices, and set root CAs', roles: ['admin'], isScoped: true },
  'agents.read': { allows: 'read agents and their sessions', roles: ['admin', 'approver', 'analyst'], isScoped: true },
  'agents.write': {
    allows: 'register, change, unsuspend and retire agents, and open and end their sessions',
    roles: ['admin'],
    isScoped: true,
  },
  'agents.suspend': { allows: 'suspend an agent', roles: ['admin', 'approver'], isScoped: true },
  'traces.read': {
    allows: 'read traces and their canary readings',
    roles: ['admin', 'approver', 'analyst'],
    isScoped: true,
  },
  'traces.write': { allows: 'run models and check canary readings', roles: ['admin'], isScoped: true },
  'shares.write': { allows: 'share traces, and end shares', roles: ['admin'], isScoped: true },
  'disclosures.read': {
    allows: 'read requests to see the masked neurons of shares, with the addresses of those who ask',
    roles: ['admin', 'approver'],
    isScoped: true,
  },
  'disclosures.decide': {
    allows: 'grant, deny and revoke such requests',
    roles: ['admin', 'approver'],
    isScoped: true,
  },
  'texts.read': {
    allows: 'read the texts of traces, where they are kept',
    roles: ['admin', 'approver'],
    isScoped: true,
  },
  'texts.erase': { allows: 'erase the texts of traces', roles: ['admin'], isScoped: true },
  'locks.read': { allows: 'read session locks', roles: ['admin', 'approver', 'analyst'], isScoped: true },
  'locks.write': { allows: 'clear session locks', roles: ['admin', 'approver'], isScoped: true },
  'decisions.read': {
    allows: 'read decisions without their facts, and check and export the ledger, which has none',
    roles: ['admin', 'approver', 'analyst', 'developer'],
    isScoped: true,
  },
  'decisions.facts': {
    allows: 'read the facts of decisions, with their explanation',
    roles: ['admin', 'approver', 'analyst'],
    isScoped: true,
  },
  'policy.read': { allows: 'read policies and their effects', roles: ['admin', 'approver', 'analyst'], isScoped: true },
  'policy.write': { allows: 'change policies', roles: ['admin'], isScoped: true },
  'intents.read': {
    allows: 'read the status and the execution of intent tokens, revocations and stops',
    roles: ['admin', 'approver', 'analyst'],
    isScoped: true,
  },
  'intents.write': {
    allows: 'authorize and verify actions, and revoke intent tokens, agent sessions and devices',
    roles: ['admin', 'approver'],
    isScoped: true,
  },
  'intents.stop': {
    allows: 'stop all agents of the account, and resume them',
    roles: ['admin', 'approver'],
    isScoped: true,
  },
  'approvals.read': {
    allows: 'read approvals, with the actions that they are for',
    roles: ['admin', 'approver', 'analyst'],
    isScoped: true,
  },
  'approvals.decide': {
    allows: 'approve and deny the actions of agents, where the rule names their role',
    roles: ['admin', 'approver'],
    isScoped: true,
  },
  'passkeys.own': {
    allows: 'register, read, name and remove their own passkeys',
    roles: ['admin', 'approver', 'analyst', 'developer'],
    isScoped: false,
  },
  'mandates.read': {
    allows: 'read mandates and what is left of their budgets',
    roles: ['admin', 'approver', 'analyst'],
    isScoped: true,
  },
  'mandates.write': { allows: 'grant, narrow and revoke mandates, and check in', roles: ['admin'], isScoped: true },
  'schedules.read': {
    allows: 'read standing schedules and their cycles',
    roles: ['admin', 'approver', 'analyst'],
    isScoped: true,
  },
  'schedules.write': {
    allows: 'set up, pause, resume and cancel standing schedules',
    roles: ['admin'],
    isScoped: true,
  },
  'prescribers.read': {
    allows: 'read prescribers, with their names, and what was checked about them',
    roles: ['admin', 'approver'],
    isScoped: true,
  },
  'prescribers.write': {
    allows: 'enter prescribers and facts about them, end facts, and suspend prescribers',
    roles: ['admin'],
    isScoped: true,
  },
  'prescribers.confirm': {
    allows: 'confirm facts about prescribers with a passkey, as a prescriber of tier 3 or the first owner',
    roles: ['admin', 'approver', 'analyst', 'developer'],
    isScoped: true,
  },
  'orders.read': {
    allows: 'read clinician orders, with their patients and medications, and incident reports',
    roles: ['admin', 'approver', 'analyst'],
    isScoped: true,
  },
  'orders.write': { allows: 'enter, edit and cancel clinician orders', roles: ['admin', 'approver'], isScoped: true },
  'orders.sign': {
    allows: 'sign, co-sign and decline clinician orders as the prescriber that names them',
    roles: ['admin', 'approver', 'analyst', 'developer'],
    isScoped: true,
  },
  'exclusions.write': {
    allows: 'upload exclusion lists, and clear or confirm possible exclusions of prescribers',
    roles: ['admin'],
    isScoped: true,
  },
  'clinical_policy.write': {
    allows: 'change the clinical policy and the formulary',
    roles: ['admin'],
    isScoped: true,
  },
  'webhooks.read': {
    allows: 'read webhook endpoints, deliveries, event consumers, and events of every type',
    roles: ['admin', 'developer'],
    isScoped: true,
  },
  'webhooks.write': { allows: 'change webhook endpoints and send deliveries again', roles: ['admin'], isScoped: true },
  'events.read': {
    allows: 'read the events of what they may read',
    roles: ['admin', 'approver', 'analyst', 'developer'],
    isScoped: true,
  },
  'keys.manage': {
    allows: 'create, list, change, rotate and revoke API keys',
    roles: ['admin', 'developer'],
    isScoped: true,
  },
  'account.read': {
    allows: 'read the account, its plan and its products',
    roles: ['admin', 'approver', 'analyst', 'developer'],
    isScoped: false,
  },
  'account.write': { allows: 'rename the account', roles: ['admin'], isScoped: false },
  'usage.read': { allows: 'read usage and statements', roles: ['admin', 'approver', 'analyst'], isScoped: false },
  'plan.write': { allows: 'change the plan', roles: [], isScoped: false },
  'products.write': { allows: 'change the products', roles: ['admin'], isScoped: false },
  'team.read': {
    allows: 'see the members of the team',
    roles: ['admin', 'approver', 'analyst', 'developer'],
    isScoped: false,
  },
  'team.write': { allows: 'invite, change and remove members', roles: ['admin'], isScoped: false },
  'sso.write': {
    allows: 'connect an identity provider, and make and revoke tokens of directories',
    roles: ['admin'],
    isScoped: false,
  },
  'audit.read': { allows: 'read the audit log', roles: ['admin'], isScoped: false },
  'account.export': { allows: 'export everything of the account', roles: [], isScoped: false },
  'account.close': { allows: 'close the account', roles: [], isScoped: false },
  'session.own': {
    allows: 'see and end their own sessions, and leave the account',
    roles: ['admin', 'approver', 'analyst', 'developer'],
    isScoped: false,
  },
} as const satisfies Record<string, PermissionRow>

export type Permission = keyof typeof PERMISSIONS
export const PERMISSION_NAMES = Object.keys(PERMISSIONS) as Permission[]

// What a sandbox key may read of the whole account. Anyone who may create a key can create one for the sandbox with every
// scope, whatever their role: so it shows what every member sees. The audit log shows it the entries of the sandbox.
const SEEN_FROM_SANDBOX: readonly Permission[] = ['account.read', 'team.read', 'session.own', 'audit.read']

/** Whether keys of the sandbox, and sessions that reach it only, may read what is of the whole account. */
export function isSeenFromSandbox(permission: Permission): boolean {
  return SEEN_FROM_SANDBOX.includes(permission)
}

/** The roles that have a permission, in the order of `ROLES`. */
export function rolesWith(permission: Permission, environment: 'sandbox' | 'live'): Role[] {
  const { roles, isScoped }: PermissionRow = PERMISSIONS[permission]
  return ROLES.filter(
    (role) =>
      role === 'owner' || roles.includes(role) || (role === 'developer' && isScoped && environment === 'sandbox'),
  )
}

/** Permission that users have whatever the plan and the state of the account, to see why they may do nothing else. */
export const WHATEVER_THE_ACCOUNT = 'session.own' satisfies Permission

// Owners of a closed account read, export, undo the closure, and see and end their sessions.
const WHEN_CLOSED: readonly Permission[] = ['account.export', 'account.close', WHATEVER_THE_ACCOUNT]

interface SessionStanding {
  role: Role
  plan: Plan
  /** Its link proved no address. */
  isSandboxOnly: boolean
  /** The account is. */
  isClosed: boolean
}

/** What a session may do in an environment: the permissions of its role without those that the rest of its standing takes. */
export function permissionsOf(
  { role, plan, isSandboxOnly, isClosed }: SessionStanding,
  environment: 'sandbox' | 'live',
): Permission[] {
  if (isSandboxOnly && environment === 'live') return []
  return PERMISSION_NAMES.filter((name) => {
    if (!rolesWith(name, environment).includes(role)) return false
    if (isSandboxOnly && !PERMISSIONS[name].isScoped && !isSeenFromSandbox(name)) return false
    if (name === WHATEVER_THE_ACCOUNT) return true
    if (role !== 'owner' && (plan !== 'enterprise' || isClosed)) return false
    return !isClosed || name.endsWith('.read') || WHEN_CLOSED.includes(name)
  })
}
