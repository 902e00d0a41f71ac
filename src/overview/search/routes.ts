import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { type ObjectSearch, SEARCH_RESULT_TYPES } from './search.ts'

const MIN_CHARACTERS = 2
const MAX_CHARACTERS = 254

const searchResult = z
  .object({
    type: z.enum(SEARCH_RESULT_TYPES).meta({ id: 'SearchResultType' }),
    id: z.string(),
    title: z.string().describe('Title for people: a reference, a name, an address, or the id.'),
  })
  .meta({ id: 'SearchResult' })
const searchView = z
  .object({
    data: z.array(searchResult).describe('Results, at most five of each type.'),
    truncated: z.boolean().describe('Types with more results: search for a longer text.'),
  })
  .meta({ id: 'SearchResults' })

export function searchRoutes(search: ObjectSearch): Route[] {
  return [
    endpoint(
      {
        method: 'GET',
        path: '/v1/search',
        operationId: 'searchEverything',
        sdk: 'overview.search',
        effect: 'read',
        kind: 'call',
        takesAnyKey: true,
        needsAccountKey: true,
        permission: 'account.read',
        summary: 'Find an object by the beginning of its id or name',
        query: z.object({
          q: z
            .string()
            .min(MIN_CHARACTERS)
            .max(MAX_CHARACTERS)
            .regex(/^\P{Cc}*$/u, 'must not contain control characters')
            .describe(
              'The beginning of an id, a claim reference, an external id, the e-mail address of a member, or the name of an agent.',
            ),
        }),
        view: searchView,
        status: [200],
      },
      async ({ caller, query }) => {
        const { hits, truncated } = await search.find(caller, query.q)
        return { data: hits, truncated }
      },
    ),
  ]
}
