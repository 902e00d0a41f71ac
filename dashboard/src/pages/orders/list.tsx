import type { Order } from '@countersign/client'
import { Id, Status, Time } from '../../parts/values.tsx'
import { Verbatim } from '../../parts/verbatim.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const STATES = ['draft', 'pending_cosign', 'authorized', 'executed', 'declined', 'cancelled', 'expired']

const page: ListPage<Order> = {
  title: 'Orders',
  name: 'orders',
  permission: 'orders.read',
  about:
    'What clinicians order. Its prescriber signs an order, and a second clinician co-signs it where the policy asks for one.',
  list: (client, query) => client.clinical.orders.list(query as object),
  idOf: ({ orderId }) => orderId,
  pathOf: ({ orderId }) => `orders/${orderId}`,
  filters: [
    { kind: 'choices', name: 'status', title: 'State', values: STATES },
    { kind: 'choices', name: 'schedule', title: 'Schedule', values: ['none', 'I', 'II', 'III', 'IV', 'V'] },
    { kind: 'text', name: 'prescriberId', title: 'Prescriber' },
    { kind: 'day', name: 'createdGte', title: 'From' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ],
  columns: [
    { name: 'id', title: 'Order', show: ({ orderId }) => <Id id={orderId} /> },
    { name: 'medication', title: 'Medication', show: ({ medication }) => <Verbatim text={medication.name} /> },
    { name: 'schedule', title: 'Schedule', show: ({ schedule }) => schedule },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'patient', title: 'Patient', show: ({ patientRef }) => <Verbatim text={patientRef} /> },
    { name: 'prescriber', title: 'Prescriber', show: ({ prescriberId }) => <Id id={prescriberId} /> },
    { name: 'created', title: 'Entered', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'expires', title: 'Expires', show: ({ expiresAt }) => <Time at={expiresAt} /> },
  ],
  empty: {
    sentence: 'An order is entered with a key. The prescriber that it names signs it here.',
    curl: `curl {base_url}/v1/clinical/orders -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"prescriber_id": "<PRESCRIBER_ID>", "patient_ref": "Patient/123", "medication": {"name": "Amoxicillin 500 mg capsule"}, "quantity": {"value": "21", "unit": "capsule"}, "refills": 0, "sig": "One capsule three times a day"}'`,
  },
}

export const Page = () => <List page={page} />
