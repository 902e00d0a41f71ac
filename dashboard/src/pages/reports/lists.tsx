import type { MandateSpend, UnexecutedIntent } from '@countersign/client'
import { ReasonTags } from '../../parts/reason.tsx'
import { Id, Nothing, Num, Time } from '../../parts/values.tsx'
import type { Filter } from '../../recipe/filters.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const PERIOD: readonly Filter[] = [
  { kind: 'day', name: 'from', title: 'From' },
  { kind: 'day', name: 'to', title: 'Before' },
]

const spend: ListPage<MandateSpend> = {
  title: 'Spend under mandates',
  name: 'mandate-spend',
  permission: 'decisions.read',
  about: 'What was charged under each mandate, by the period of its budget.',
  list: (client, query) => client.analytics.mandateSpend.list(query as object),
  idOf: ({ mandateId, periodStart, currency }) => `${mandateId} ${periodStart} ${currency}`,
  pathOf: ({ mandateId }) => `mandates/${mandateId}`,
  filters: [{ kind: 'text', name: 'mandateId', title: 'Mandate' }, ...PERIOD],
  columns: [
    { name: 'mandate', title: 'Mandate', show: ({ mandateId }) => <Id id={mandateId} /> },
    { name: 'period', title: 'Period from', show: ({ periodStart }) => periodStart ?? <Nothing /> },
    { name: 'executions', title: 'Executions', isNumber: true, show: ({ executions }) => <Num value={executions} /> },
    { name: 'charged', title: 'Charged', isNumber: true, show: ({ charged }) => charged },
    { name: 'released', title: 'Given back', isNumber: true, show: ({ released }) => released },
    { name: 'spent', title: 'Spent', isNumber: true, show: ({ spent }) => spent },
    { name: 'currency', title: 'Currency', show: ({ currency }) => currency ?? <Nothing /> },
  ],
  empty: { sentence: 'Nothing was charged under a mandate in the last days.' },
}

export const Spend = () => <List page={spend} />

const unexecuted: ListPage<UnexecutedIntent> = {
  title: 'Tokens that were never used',
  name: 'unexecuted',
  permission: 'decisions.read',
  about: 'Authorized actions that did not run, and what the last verification said.',
  list: (client, query) => client.analytics.unexecuted.list(query as object),
  idOf: ({ jti }) => jti,
  pathOf: ({ decisionId }) => `decisions/${decisionId}`,
  filters: PERIOD,
  columns: [
    { name: 'token', title: 'Token', show: ({ jti }) => <Id id={jti} /> },
    { name: 'decision', title: 'Authorized by', show: ({ decisionId }) => <Id id={decisionId} /> },
    { name: 'at', title: 'Authorized', show: ({ authorizedAt }) => <Time at={authorizedAt} /> },
    { name: 'last', title: 'Last verified', show: ({ lastVerification }) => <Time at={lastVerification?.at} /> },
    {
      name: 'reason',
      title: 'Refused with',
      show: ({ lastVerification, preflightReason }) => {
        const reason = lastVerification?.reason ?? preflightReason
        return <ReasonTags codes={reason === null ? [] : [reason]} />
      },
    },
    { name: 'agent', title: 'Agent', show: ({ agentId }) => <Id id={agentId} /> },
    { name: 'mandate', title: 'Mandate', isHidden: true, show: ({ mandateId }) => <Id id={mandateId} /> },
    { name: 'approval', title: 'Approval', show: ({ approvalId }) => <Id id={approvalId} /> },
  ],
  empty: { sentence: 'Every token of the last days was used.' },
}

export const Unexecuted = () => <List page={unexecuted} />
