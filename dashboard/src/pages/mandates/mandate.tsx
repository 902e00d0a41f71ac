import type { Mandate } from '@countersign/client'
import { Codes, Id, Nothing, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage } from '../../recipe/detail-page.tsx'
import { CheckIn, Narrow, Revoke } from './acts.tsx'
import { Children } from './children.tsx'
import { heartbeatOf, Members, revocationOf } from './facts.tsx'
import { leftOf } from './list.tsx'
import { Spend } from './spend.tsx'

const page: DetailPage<Mandate> = {
  kind: 'Mandate',
  name: 'mandates',
  permission: 'mandates.read',
  listPath: 'mandates',
  retrieve: (client, id, signal) => client.mandates.retrieve(id, { signal }),
  titleOf: ({ description }) => description,
  statusOf: ({ status }) => status,
  facts: (mandate) => [
    ['For', mandate.principal],
    ...(mandate.statusOf === mandate.mandateId
      ? []
      : [['State comes from', <Id key="of" id={mandate.statusOf} />] as const]),
    ['Left of its budgets', leftOf(mandate) ?? <Nothing key="left" />],
    ['Agent', mandate.agentId === null ? 'any' : <Id key="agent" id={mandate.agentId} />],
    ['Within', <Id key="parent" id={mandate.parentId} />],
    ['Instruments', mandate.instruments === null ? 'any' : <Codes key="instruments" values={mandate.instruments} />],
    ['Not before', <Time key="before" at={mandate.notBefore} />],
    ['Expires', <Time key="expires" at={mandate.expiresAt} />],
    ['Time zone', mandate.timezone],
    ...(mandate.heartbeat === null ? [] : heartbeatOf(mandate.heartbeat)),
    ...(mandate.revokedAt === null ? [] : revocationOf(mandate)),
    ['Granted', <Time key="created" at={mandate.createdAt} />],
    ['Granted by', mandate.createdBy.label ?? <Id key="by" id={mandate.createdBy.id} />],
  ],
  actions: (mandate) =>
    mandate.revokedAt === null && (
      <>
        {mandate.heartbeat !== null && <CheckIn mandate={mandate} />}
        <Narrow mandate={mandate} />
        <Revoke mandate={mandate} />
      </>
    ),
  children: ({ mandateId, constraints, budget }) => (
    <>
      <Members title="Budget" members={budget} none="It has no budget of its own." />
      <Members title="Constraints" members={constraints} none="It has no constraint." />
      <Spend mandateId={mandateId} />
      <Children mandateId={mandateId} />
    </>
  ),
  hasEvents: true,
}

export const Page = () => <Detail page={page} />
