// Who did something, as answers and events show it.

import { z } from 'zod'

export const ACTOR_TYPES = ['user', 'key', 'agent', 'operator', 'service', 'directory'] as const

export const actorView = z
  .object({
    type: z
      .enum(ACTOR_TYPES)
      .meta({ id: 'ActorType' })
      .describe(
        'user: a member of the account; key: an API key; agent: a registered agent; operator: the operator of the deployment; service: the service by itself; directory: the identity provider of the account.',
      ),
    id: z.string().nullable().describe('The `usr_`, `key_` or `agt_` id; null for the other types.'),
    label: z
      .string()
      .nullable()
      .describe(
        "A user's e-mail address; the person whom the caller of a key named, otherwise the key's name; an agent's name. null when the row is gone, and in events, which contain nothing personal.",
      ),
  })
  .meta({ id: 'Actor' })

export type ActorView = z.input<typeof actorView>
