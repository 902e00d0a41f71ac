import { z } from 'zod'
import { PRODUCTS, type Product } from '#src/catalogue/access.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import type { AccountProducts } from './products.ts'

const product = z.enum(PRODUCTS).meta({ id: 'Product' })
const request = z
  .strictObject({
    products: z
      .array(product)
      .min(1)
      .max(PRODUCTS.length)
      .refine((all) => new Set(all).size === all.length, 'must not name a product twice'),
  })
  .meta({ id: 'ReplaceProductsRequest' })
const view = z.object({ products: z.array(product) }).meta({ id: 'AccountProducts' })

const common = {
  scope: 'admin',
  needsAccountKey: true,
  isAccountLevel: true,
  path: '/v1/account/products',
  view,
  status: [200],
} as const

export function productRoutes(products: AccountProducts): Route[] {
  const shown = (now: Product[]) => ({ products: now })
  return [
    endpoint(
      {
        ...common,
        status: [200],
        permission: 'account.read',
        method: 'GET',
        operationId: 'getProducts',
        sdk: 'account.products.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'The products that the account uses',
      },
      async ({ caller }) => shown(await products.find(caller)),
    ),
    endpoint(
      {
        ...common,
        status: [200],
        permission: 'products.write',
        audits: 'products.changed',
        method: 'PUT',
        operationId: 'replaceProducts',
        sdk: 'account.products.update',
        effect: 'write',
        kind: 'call',
        summary: 'Set the products that the account uses',
        body: request,
      },
      async ({ caller, body, idempotencyKey }) => shown(await products.put(caller, body.products, idempotencyKey)),
      async ({ caller }) => shown(await products.find(caller)),
    ),
  ]
}
