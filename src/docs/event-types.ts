// The catalogue of events, for programs (`/v1/event-types`) and for people (`/docs/events`): one table, made of the same schemas
// that `emit` parses each payload with before it is stored.

import { z } from 'zod'
import { product } from '#src/account/sessions/views.ts'
import { eventType } from '#src/account/webhooks/endpoint-views.ts'
import type { Product } from '#src/catalogue/access.ts'
import { anyEventView, EVENT_TYPES, type EventType } from '#src/catalogue/events.ts'
import { Failure } from '#src/failure.ts'
import { publicEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import type { Notes } from '#src/platform/http/openapi.ts'
import { listOf, wholeList } from '#src/platform/http/page.ts'
import { type Html, html, prose } from './html.ts'
import type { DocsPage } from './layout.ts'

type JsonSchema = Record<string, unknown>

interface EventTypeEntry {
  type: EventType
  summary: string
  products: readonly Product[]
  /** null: no event of this type is sent yet. */
  dataSchema: JsonSchema | null
  envelopeSchema: JsonSchema | null
  example: z.input<typeof anyEventView> | null
}

const jsonSchema = z.record(z.string(), z.unknown()).meta({ id: 'JsonSchema', verbatim: true })
const eventTypeView = z
  .object({
    type: eventType,
    summary: z.string(),
    products: z.array(product).describe('Accounts that use any of these get the event. Empty: every account.'),
    is_sent: z
      .boolean()
      .describe('false: this version of the service sends none, and you may subscribe to it already.'),
    data_schema: jsonSchema.nullable().describe('JSON Schema (2020-12) of `data`. Members may be added to it.'),
    envelope_schema: jsonSchema.nullable().describe('JSON Schema (2020-12) of the whole body.'),
    example: anyEventView.nullable().describe('A whole body.'),
  })
  .meta({ id: 'EventTypeEntry' })

// Public data, which generators of code fetch from other origins.
const PUBLIC_DATA = { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' }
const common = { method: 'GET', tag: 'Events', public: 'Generators of code have no key' } as const

export function eventTypeRoutes(notes: Pick<Notes, 'webhooks'>): Route[] {
  // Made at the first request: most processes never get one.
  let entries: EventTypeEntry[] | undefined
  const all = () => {
    entries ??= entriesOf(notes)
    return entries
  }
  return [
    publicEndpoint(
      {
        ...common,
        status: [200],
        path: '/v1/event-types',
        operationId: 'listEventTypes',
        sdk: 'events.types.list',
        effect: 'read',
        kind: 'list',
        summary: 'Every type of event, with its schema and an example',
        view: listOf(eventTypeView),
      },
      async () => reply(200, wholeList(all().map(toView)), PUBLIC_DATA),
    ),
    publicEndpoint(
      {
        ...common,
        status: [200],
        path: '/v1/event-types/:type',
        operationId: 'getEventType',
        sdk: 'events.types.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One type of event',
        params: z.object({ type: z.string().meta({ description: 'Such as `claim.escalated`.' }) }),
        view: eventTypeView,
      },
      async ({ params }) => {
        const entry = all().find(({ type }) => type === params.type)
        if (entry === undefined) {
          const types = Object.keys(EVENT_TYPES).join(', ')
          throw new Failure(
            'not_found',
            `No event type ${JSON.stringify(params.type.slice(0, 64))}: there are ${types}.`,
          )
        }
        return reply(200, toView(entry), PUBLIC_DATA)
      },
    ),
  ]
}

const toView = ({ type, summary, products, ...entry }: EventTypeEntry): z.input<typeof eventTypeView> => ({
  type,
  summary,
  products: [...products],
  is_sent: entry.dataSchema !== null,
  data_schema: entry.dataSchema,
  envelope_schema: entry.envelopeSchema,
  example: entry.example,
})

function entriesOf({ webhooks }: Pick<Notes, 'webhooks'>): EventTypeEntry[] {
  return (Object.keys(EVENT_TYPES) as EventType[]).map((type) => {
    const { summary, products } = EVENT_TYPES[type]
    const note = webhooks[type]
    const data = note?.body instanceof z.ZodObject ? (note.body.shape.data as z.ZodType) : undefined
    return {
      type,
      summary,
      products,
      dataSchema: data === undefined ? null : schemaOf(data),
      envelopeSchema: note === undefined ? null : schemaOf(note.body),
      example: note === undefined ? null : (note.example as z.input<typeof anyEventView>),
    }
  })
}

const schemaOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any',
    // For our own document only.
    override: ({ jsonSchema }) => {
      delete jsonSchema.verbatim
    },
  }) as JsonSchema

/** `/docs/events`. */
export function eventsPage(notes: Pick<Notes, 'webhooks'>): DocsPage {
  const entries = entriesOf(notes)
  const body = html`<h1>Events</h1>
<p class="lead">What the service tells you by <a href="webhooks/webhooks">webhook</a>, and by
<a href="webhooks/webhooks#pull">the pull API</a>. Subscribe an endpoint to some of them by name, or to <code>*</code> for all.</p>
<p>The schemas are also at <a href="../v1/event-types"><code>GET /v1/event-types</code></a>, for programs. Members and types
may be added; a name never changes its meaning.</p>
<div class="wide" tabindex="0"><table>
<thead><tr><th>Event</th><th>Sent when</th><th>Products</th></tr></thead>
<tbody>
${entries.map(
  ({
    type,
    summary,
    products,
  }) => html`<tr><td class="name"><a href="#${type}"><code>${type}</code></a></td><td>${summary}</td>
<td>${products.length === 0 ? 'all' : products.join(', ')}</td></tr>\n`,
)}</tbody>
</table></div>
${entries.map(sectionOf)}`
  const contents = entries.map(({ type }) => ({ anchor: type, text: type }))
  return { path: '/docs/events', title: 'Events', body, contents }
}

function sectionOf({ type, summary, dataSchema, example }: EventTypeEntry): Html {
  const shown =
    dataSchema === null
      ? html`<p>This version of the service sends none. An endpoint may subscribe to it already.</p>`
      : html`<div class="wide" tabindex="0"><table><thead><tr><th>Member of <code>data</code></th><th>Type</th></tr></thead>
<tbody>
${membersOf(dataSchema).map(({ name, shape }) => html`<tr><td class="name"><code>${name}</code></td><td>${prose(shape)}</td></tr>\n`)}</tbody>
</table></div>
<div class="code"><pre tabindex="0"><code>${JSON.stringify(example, null, 2)}</code></pre></div>`
  return html`<section id="${type}">
<h2><code>${type}</code><a class="anchor" href="#${type}" aria-label="Link to this section">#</a></h2>
<p>${summary}</p>
${shown}
</section>
`
}

function membersOf(schema: JsonSchema): { name: string; shape: string }[] {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>
  const required = (schema.required ?? []) as string[]
  const definitions = (schema.$defs ?? {}) as Record<string, JsonSchema>
  return Object.entries(properties).map(([name, member]) => ({
    name,
    shape: shapeOf(member, definitions) + (required.includes(name) ? '' : ', may be absent'),
  }))
}

// A word or two; the schema has the rest.
function shapeOf(schema: JsonSchema, definitions: Record<string, JsonSchema>): string {
  const { $ref, anyOf, enum: values, type, items } = schema
  if (typeof $ref === 'string') return shapeOf(definitions[$ref.replace('#/$defs/', '')] ?? {}, definitions)
  if (Array.isArray(anyOf)) return anyOf.map((one: JsonSchema) => shapeOf(one, definitions)).join(' or ')
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(', ')
  if (type === 'array') return `list of ${shapeOf((items ?? {}) as JsonSchema, definitions)}`
  if (type === 'object' && typeof schema.properties === 'object' && schema.properties !== null) {
    return `object with ${Object.keys(schema.properties)
      .map((name) => `\`${name}\``)
      .join(', ')}`
  }
  return type === undefined ? 'any value' : [type].flat().join(' or ')
}
