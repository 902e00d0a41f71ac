// The pages of clinicians in the table of pages.

import { MISSING, type PageRow } from './page-row.ts'

export const CLINICAL_PAGES: readonly PageRow[] = [
  {
    path: 'orders',
    heading: 'Orders',
    request: /\/v1\/clinical\/orders\?/,
    permission: 'orders.read',
    empty: 'An order is entered with a key.',
  },
  { path: 'orders/:order', heading: 'Order', request: /\/v1\/clinical\/orders\/ord[^/]+$/, empty: MISSING },
  {
    path: 'prescribers',
    heading: 'Prescribers',
    request: /\/v1\/clinical\/prescribers\?/,
    permission: 'prescribers.read',
    empty: 'A prescriber is entered with a key',
  },
  {
    path: 'prescribers/:prescriber',
    heading: 'Robin Example',
    request: /\/v1\/clinical\/prescribers\/prs[^/]+$/,
    empty: MISSING,
  },
  {
    path: 'exclusion-lists',
    heading: 'Exclusion lists',
    request: /\/v1\/clinical\/exclusion-lists\/leie$/,
    permission: 'prescribers.read',
    empty: 'There is no list',
  },
  {
    path: 'exclusion-imports',
    heading: 'List imports',
    request: /\/v1\/clinical\/exclusion-imports\?/,
    permission: 'prescribers.read',
    empty: 'No file was uploaded.',
  },
  {
    path: 'exclusion-imports/:listImport',
    heading: 'Import',
    request: /\/v1\/clinical\/exclusion-imports\/exi/,
    empty: MISSING,
  },
  {
    path: 'exclusion-reviews',
    heading: 'Exclusion reviews',
    request: /\/v1\/clinical\/exclusion-reviews\?/,
    permission: 'prescribers.read',
    empty: 'No row of a list matches',
  },
  {
    path: 'exclusion-reviews/:review',
    heading: 'Exclusion review',
    request: /\/v1\/clinical\/exclusion-reviews\/exr/,
    empty: MISSING,
  },
  {
    path: 'exclusion-screenings',
    heading: 'List screenings',
    request: /\/v1\/clinical\/exclusion-screenings\?/,
    permission: 'prescribers.read',
    empty: 'The first comparison follows',
  },
  {
    path: 'exclusion-screenings/:listScreening',
    heading: 'Changes of a screening',
    request: /\/v1\/clinical\/exclusion-screenings\/exs/,
    empty: MISSING,
  },
]
