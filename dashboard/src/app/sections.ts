// The navigation: which pages there are, and the permission that each takes. Names of roles are no part of it.

export interface Section {
  title: string
  /** Below /app/<environment>/. */
  path: string
  /** Without one every signed-in user may open it. */
  permission?: string
  /** A product that the account must have. */
  product?: 'attest' | 'authorize' | 'trace'
}

export const SECTIONS: readonly { title: string; sections: readonly Section[] }[] = [
  { title: '', sections: [{ title: 'Overview', path: 'overview' }] },
  {
    title: 'Attest',
    sections: [
      { title: 'Cases', path: 'cases', permission: 'cases.read', product: 'attest' },
      { title: 'Claims', path: 'claims', permission: 'claims.read', product: 'attest' },
      { title: 'Batches', path: 'batches', permission: 'claims.read', product: 'attest' },
      { title: 'Screenings', path: 'screenings', permission: 'screening.read', product: 'attest' },
      { title: 'Devices', path: 'devices', permission: 'devices.read', product: 'attest' },
      { title: 'Root CAs', path: 'roots', permission: 'devices.read', product: 'attest' },
      { title: 'C2PA anchors', path: 'anchors', permission: 'devices.read', product: 'attest' },
      { title: 'Analytics of claims', path: 'analytics', permission: 'claims.read', product: 'attest' },
      { title: 'Risk policy', path: 'risk-policy', permission: 'policy.read', product: 'attest' },
      { title: 'Re-evaluations', path: 'reevaluations', permission: 'policy.read', product: 'attest' },
    ],
  },
  {
    title: 'Authorize',
    sections: [
      { title: 'Approvals', path: 'approvals', permission: 'approvals.read', product: 'authorize' },
      { title: 'Decisions', path: 'decisions', permission: 'decisions.read', product: 'authorize' },
      { title: 'Mandates', path: 'mandates', permission: 'mandates.read', product: 'authorize' },
      { title: 'Schedules', path: 'schedules', permission: 'schedules.read', product: 'authorize' },
      { title: 'Agents', path: 'agents', permission: 'agents.read', product: 'authorize' },
      { title: 'Agent sessions', path: 'agent-sessions', permission: 'agents.read', product: 'authorize' },
      { title: 'Locks', path: 'locks', permission: 'locks.read', product: 'authorize' },
      { title: 'Revocations', path: 'revocations', permission: 'intents.read', product: 'authorize' },
      { title: 'Reports', path: 'reports', permission: 'decisions.read', product: 'authorize' },
    ],
  },
  {
    title: 'Clinical',
    sections: [
      { title: 'Orders', path: 'orders', permission: 'orders.read', product: 'authorize' },
      { title: 'Prescribers', path: 'prescribers', permission: 'prescribers.read', product: 'authorize' },
      { title: 'Exclusion lists', path: 'exclusion-lists', permission: 'prescribers.read', product: 'authorize' },
      { title: 'Exclusion reviews', path: 'exclusion-reviews', permission: 'prescribers.read', product: 'authorize' },
      { title: 'List imports', path: 'exclusion-imports', permission: 'prescribers.read', product: 'authorize' },
      {
        title: 'List screenings',
        path: 'exclusion-screenings',
        permission: 'prescribers.read',
        product: 'authorize',
      },
    ],
  },
  {
    title: 'Developers',
    sections: [
      { title: 'API keys', path: 'keys', permission: 'keys.manage' },
      { title: 'Endpoints', path: 'endpoints', permission: 'webhooks.read' },
      { title: 'Deliveries', path: 'deliveries', permission: 'webhooks.read' },
      { title: 'Events', path: 'events', permission: 'events.read' },
      { title: 'Consumers', path: 'consumers', permission: 'webhooks.read' },
    ],
  },
  {
    title: 'Account',
    sections: [
      { title: 'Users', path: 'users', permission: 'team.read' },
      { title: 'Invites', path: 'invites', permission: 'team.write' },
      { title: 'Roles', path: 'roles', permission: 'team.read' },
      { title: 'Single sign-on', path: 'sso', permission: 'sso.write' },
      { title: 'Directory tokens', path: 'scim-tokens', permission: 'sso.write' },
      { title: 'Plan and usage', path: 'usage', permission: 'usage.read' },
      { title: 'Statements', path: 'statements', permission: 'usage.read' },
      { title: 'Audit log', path: 'audit', permission: 'audit.read' },
      { title: 'Your sessions', path: 'sign-ins', permission: 'session.own' },
      { title: 'Your passkeys', path: 'passkeys', permission: 'passkeys.own' },
      { title: 'Exports', path: 'exports', permission: 'account.export' },
      { title: 'Close the account', path: 'closing', permission: 'account.close' },
    ],
  },
]

const PAGES = SECTIONS.flatMap(({ sections }) => sections)

/** The pages that a user may open, in their groups; empty groups are left out. */
export function sectionsFor(may: (permission: string) => boolean, products: readonly string[]) {
  return SECTIONS.map(({ title, sections }) => ({
    title,
    sections: sections.filter(
      ({ permission, product }) =>
        (permission === undefined || may(permission)) && (product === undefined || products.includes(product)),
    ),
  })).filter(({ sections }) => sections.length > 0)
}

export function sectionOf(path: string): Section | undefined {
  return PAGES.find((section) => path === section.path || path.startsWith(`${section.path}/`))
}

/** Where the prefix of an id leads, below /app/<environment>/. */
const BY_PREFIX: Record<string, string> = {
  clm: 'claims',
  cas: 'cases',
  bat: 'batches',
  att: 'attestations',
  scr: 'screenings',
  dev: 'devices',
  rca: 'roots',
  cpa: 'anchors',
  ree: 'reevaluations',
  apr: 'approvals',
  dec: 'decisions',
  mnd: 'mandates',
  sch: 'schedules',
  agt: 'agents',
  lck: 'locks',
  rev: 'revocations',
  ord: 'orders',
  prs: 'prescribers',
  exr: 'exclusion-reviews',
  exi: 'exclusion-imports',
  exs: 'exclusion-screenings',
  key: 'keys',
  whe: 'endpoints',
  whd: 'deliveries',
  evt: 'events',
  usr: 'users',
  aud: 'audit',
  exp: 'exports',
}

export function pathOfId(id: string): string | undefined {
  const section = BY_PREFIX[id.split('_', 1)[0] ?? '']
  return section === undefined ? undefined : `${section}/${id}`
}
