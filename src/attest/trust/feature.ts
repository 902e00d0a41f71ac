import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { Scope } from '#src/platform/ids.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { NOTES } from './notes.ts'
import { C2PA_ANCHORS, createCaRegistry, ROOT_CAS } from './registry.ts'
import { trustRoutes } from './routes.ts'
import { findCas } from './rows.ts'

export type TrustFeature = ReturnType<typeof trustFeature>

/** CA certificates that an account trusts: for its devices, and for signers of C2PA manifests. */
export function trustFeature(p: Platform) {
  const rootCas = createCaRegistry(p, ROOT_CAS)
  const c2paAnchors = createCaRegistry(p, C2PA_ANCHORS)
  return defineFeature(
    {
      name: 'trust',
      data: [
        { table: 'root_cas', key: ['id'] },
        { table: 'c2pa_anchors', key: ['id'] },
      ],
      routes: trustRoutes(rootCas, c2paAnchors),
      notes: NOTES,
      retention: [ROOT_CAS, C2PA_ANCHORS].map(({ table, idType }) =>
        rowRule(p.db, table, null, oldRows({ table, idType, age: 'created_at' })),
      ),
    },
    {
      rootCas,
      c2paAnchors,
      /** DER, of the account and environment. */
      c2paAnchorsOf: async (scope: Scope): Promise<Buffer[]> =>
        (await p.db.tenant(scope, (tx) => findCas(tx, 'c2pa_anchors'))).map(({ certificate }) => certificate),
    },
  )
}
