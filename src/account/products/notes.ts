import type { Note } from '#src/platform/http/openapi.ts'

const products = { products: ['attest', 'authorize'] }

export const NOTES: Record<string, Note> = {
  'GET /v1/account/products': {
    description: 'Events of a product reach webhook endpoints only while the account uses the product.',
    answers: { 200: { example: products } },
  },
  'PUT /v1/account/products': {
    description:
      'Replaces the whole list. It takes effect with the next event: deliveries that are waiting are still sent. An API ' +
      'key must be a live one.',
    examples: { 'Two products': products },
    answers: { 200: { example: products } },
  },
}
