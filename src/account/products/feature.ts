import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { NOTES } from './notes.ts'
import { createAccountProducts } from './products.ts'
import { productRoutes } from './routes.ts'

export type ProductsFeature = ReturnType<typeof productsFeature>

/** Which products an account uses. */
export function productsFeature(p: Platform) {
  const accountProducts = createAccountProducts(p)
  return defineFeature({ name: 'products', routes: productRoutes(accountProducts), notes: NOTES }, { accountProducts })
}
