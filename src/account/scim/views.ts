import { z } from 'zod'
import { timestampView } from '#src/platform/http/views.ts'
import { type EMAIL_PARTS, NAME_PARTS, type ScimResource, USER_SCHEMA } from './resource.ts'
import type { DirectoryUser } from './rows.ts'
import { resourceOf } from './users.ts'

export const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

const text = z.string().optional()

const nameView = z.object(Object.fromEntries(NAME_PARTS.map((part) => [part, text]))).meta({ id: 'ScimName' })
const emailView = z
  .object({ value: text, display: text, type: text, primary: z.boolean().optional() } satisfies Record<
    (typeof EMAIL_PARTS)[number],
    z.ZodType
  >)
  .meta({ id: 'ScimEmail' })
const metaView = z
  .object({
    resourceType: z.literal('User'),
    created: timestampView,
    lastModified: timestampView,
    location: z.url(),
  })
  .meta({ id: 'ScimMeta' })

export const userView = z
  .object({
    schemas: z.array(z.literal(USER_SCHEMA)),
    id: z.string(),
    externalId: text,
    userName: z.string().describe('The e-mail address.'),
    name: nameView.optional(),
    displayName: text,
    emails: z.array(emailView).optional(),
    active: z.boolean(),
    meta: metaView,
  })
  .meta({ id: 'ScimUser' })

/** A list as RFC 7644 3.4.2 has it. */
export function listView<Item extends z.ZodType>(item: Item, id: string) {
  return z
    .object({
      schemas: z.array(z.literal(LIST_SCHEMA)),
      totalResults: z.number().int(),
      startIndex: z.number().int(),
      itemsPerPage: z.number().int(),
      Resources: z.array(item),
    })
    .meta({ id })
}

export function toListView<Item>(items: Item[], { total, startIndex }: { total: number; startIndex: number }) {
  return {
    schemas: [LIST_SCHEMA] as [typeof LIST_SCHEMA],
    totalResults: total,
    startIndex,
    itemsPerPage: items.length,
    Resources: items,
  }
}

export function locationOf(baseUrl: string, id: string): string {
  return `${baseUrl}/v1/scim/v2/Users/${id}`
}

export function toUserView(user: DirectoryUser, baseUrl: string): z.input<typeof userView> {
  const { id, createdAt, changedAt, deprovisionedAt, reactivatedAt } = user
  const times = [createdAt, changedAt, deprovisionedAt, reactivatedAt].filter((at) => at !== null)
  const changed = new Date(Math.max(...times.map((at) => at.getTime())))
  const { userName, active, ...rest }: ScimResource = resourceOf(user)
  return {
    schemas: [USER_SCHEMA],
    id,
    userName,
    ...rest,
    active,
    meta: {
      resourceType: 'User',
      created: createdAt.toISOString(),
      lastModified: changed.toISOString(),
      location: locationOf(baseUrl, id),
    },
  }
}
