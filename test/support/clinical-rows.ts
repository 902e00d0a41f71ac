// One row in each table of prescribers and their orders.

import { randomBytes } from 'node:crypto'

export async function fillClinical(
  insert: (table: string, row: Record<string, unknown>) => Promise<unknown>,
  id: (type: 'prs' | 'pfa' | 'ord' | 'key') => string,
  userId: string,
): Promise<void> {
  const prescriber = id('prs')
  const at = new Date()
  await insert('prescribers', {
    id: prescriber,
    user_id: userId,
    npi: '1234567893',
    sealed_person: randomBytes(32),
    match_name: randomBytes(32),
    match_states: [randomBytes(32)],
    created_by: id('key'),
    created_at: at,
    updated_at: at,
  })
  await insert('prescriber_facts', {
    id: id('pfa'),
    prescriber_id: prescriber,
    kind: 'identity',
    method: 'in_person',
    entered_by: id('key'),
    entered_at: at,
  })
  const order = id('ord')
  await insert('orders', {
    id: order,
    prescriber_id: prescriber,
    sealed_content: randomBytes(32),
    order_hash: randomBytes(32),
    schedule: 'II',
    schedule_source: 'table',
    refills: 0,
    expires_at: at,
    created_by: id('key'),
    created_at: at,
    updated_at: at,
  })
  await insert('order_signatures', {
    order_id: order,
    revision: 1,
    act: 'sign',
    order_hash: randomBytes(32),
    prescriber_id: prescriber,
    user_id: userId,
    statement_version: '1',
    signed_at: at,
  })
  await insert('clinical_incident_reports', { day: at, report: '{}', created_at: at })
  await insert('clinical_policies', { version: 1, document: '{}', digest: randomBytes(32), changed_by: id('key') })
  await insert('clinical_formulary_versions', {
    version: 1,
    digest: randomBytes(32),
    entries: 1,
    changed_by: id('key'),
  })
  await insert('clinical_formulary', { rxcui: '1', schedule: 'II' })
}
