import type { DecisionKind } from '#src/catalogue/decisions.ts'
import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { createChain } from './chain.ts'
import { createDecisions, type Explainer } from './decisions.ts'
import { createLedgerExport } from './export.ts'
import { NOTES } from './notes.ts'
import { createProving } from './proving.ts'
import { decisionRoutes } from './routes.ts'

export type DecisionsFeature = ReturnType<typeof decisionsFeature>

interface DecisionSettings {
  /** Functions that repeat a decision from its facts, by kind. */
  explainers: Partial<Record<DecisionKind, Explainer>>
}

/** The decision ledger as accounts read, explain, check and export it. src/platform/ledger/ writes it. */
export function decisionsFeature(p: Platform, { explainers }: DecisionSettings) {
  const decisions = createDecisions({ ...p, explainers })
  return defineFeature(
    {
      name: 'decisions',
      routes: decisionRoutes({
        db: p.db,
        decisions,
        proving: createProving(p),
        chain: createChain(p),
        exported: createLedgerExport(p),
      }),
      notes: NOTES,
    },
    { decisions },
  )
}
