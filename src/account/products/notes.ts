import type { Note } from '#src/platform/http/openapi.ts'
import { IF_MATCH } from '#src/platform/http/versions.ts'

const request = { products: ['attest', 'authorize'] }
const products = { ...request, version: 3 }

export const NOTES: Record<string, Note> = {
  'GET /v1/account/products': {
    description: 'Events of a product reach webhook endpoints only while the account uses the product.',
    answers: { 200: { example: products } },
  },
  'PUT /v1/account/products': {
    description:
      'Replaces the whole list. It takes effect with the next event: deliveries that are waiting are still sent. An API ' +
      'key must be a live one. `version` is that of the account: it counts changes of its name, plan and products.',
    examples: { 'Two products': request },
    answers: { 200: { example: products } },
    headers: IF_MATCH,
    problems: ['precondition_failed'],
  },
}
