import { z } from 'zod'
import { role } from '#src/account/sessions/views.ts'
import { ROLES } from '#src/catalogue/access.ts'
import { PERMISSION_NAMES, PERMISSIONS, rolesWith } from '#src/catalogue/permissions.ts'
import { publicEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { listOf, wholeList } from '#src/platform/http/page.ts'
import { type ChangelogVersion, readChangelog } from './changelog.ts'
import { listReasonCodes, REASON_PLACES, type ReasonCodeEntry } from './reasons.ts'

// Public data, which pages of other origins fetch.
const PUBLIC_DATA = { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' }
const ENVIRONMENTS = ['sandbox', 'live'] as const
const common = { method: 'GET', effect: 'read', kind: 'list' } as const

const reasonCodeView = z
  .object({
    code: z.string().describe('Code; it never changes its meaning. New codes are added.'),
    places: z
      .array(z.enum(REASON_PLACES).meta({ id: 'ReasonPlace' }))
      .describe(
        'Places where the code appears. verify: the `reason` of a verification; clinician_order: an order of a ' +
          'clinician; factor: a risk factor, which adds points; advisory: a finding that never does; case: the reason ' +
          'of a case; finish_reason: the end of a completion; ledger: an entry of the decision ledger.',
      ),
    meaning: z.string(),
    points: z.number().int().nullable().describe('Points that a factor adds to the risk score; null: none.'),
    remedy: z.string().describe('What to do about the code.'),
  })
  .meta({ id: 'ReasonCode' })

const roleView = z
  .object({
    role,
    permissions: z.array(
      z
        .object({
          permission: z.string(),
          allows: z.string().describe('What a holder may do.'),
          environments: z
            .array(z.enum(['sandbox', 'live']).meta({ id: 'Environment' }))
            .describe('Environments in which the role has it.'),
        })
        .meta({ id: 'RolePermission' }),
    ),
  })
  .meta({ id: 'RoleEntry' })

const changeView = z
  .object({
    section: z.string().describe('The product or area, such as Attest or Operate.'),
    text: z.string().describe('Markdown.'),
  })
  .meta({ id: 'Change' })
const versionView = z
  .object({
    version: z.string().describe('Version such as 1.2.0; `unreleased` for changes that no version has yet.'),
    date: z.iso.date().nullable().describe('Release date; null: not released.'),
    changes: z.array(changeView),
  })
  .meta({ id: 'ChangelogVersion' })

/** @param baseUrl Without a trailing slash. */
export function referenceRoutes({ baseUrl }: { baseUrl: string }): Route[] {
  // Made at the first request: most processes never get one.
  let reasons: ReasonCodeEntry[] | undefined
  let versions: ChangelogVersion[] | undefined
  return [
    publicEndpoint(
      {
        ...common,
        path: '/v1/reason-codes',
        operationId: 'listReasonCodes',
        sdk: 'overview.reasonCodes.list',
        summary: 'List every reason code: where it appears, what it means, and what to do about it',
        public: 'Pages and tools explain codes without a key',
        view: listOf(reasonCodeView),
        status: [200],
      },
      async () => {
        reasons ??= listReasonCodes()
        return reply(200, wholeList(reasons), PUBLIC_DATA)
      },
    ),
    publicEndpoint(
      {
        ...common,
        path: '/v1/roles',
        operationId: 'listRoles',
        sdk: 'overview.roles.list',
        summary: 'List the roles of users, and what each may do',
        public: 'It is published at /docs/roles as well',
        view: listOf(roleView),
        status: [200],
      },
      async () => reply(200, wholeList(ROLES.map(describeRole)), PUBLIC_DATA),
    ),
    publicEndpoint(
      {
        ...common,
        path: '/v1/changelog',
        operationId: 'listChangelog',
        sdk: 'overview.changelog.list',
        summary: 'List the versions of this service, newest first, and what changed in each',
        public: 'Readers look at it before they have a key',
        view: listOf(versionView),
        status: [200],
      },
      async () => {
        versions ??= readChangelog(baseUrl)
        return reply(200, wholeList(versions), PUBLIC_DATA)
      },
    ),
  ]
}

function describeRole(name: (typeof ROLES)[number]): z.input<typeof roleView> {
  const permissions = PERMISSION_NAMES.flatMap((permission) => {
    const environments = ENVIRONMENTS.filter((environment) => rolesWith(permission, environment).includes(name))
    return environments.length === 0 ? [] : [{ permission, allows: PERMISSIONS[permission].allows, environments }]
  })
  return { role: name, permissions }
}
