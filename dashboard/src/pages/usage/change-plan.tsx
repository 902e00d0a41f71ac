// A smaller plan: the service says what it takes away before anybody confirms it.

import { CountersignError, type FieldError, type OfferedPlan, type Plan } from '@countersign/client'
import { Alert, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useClient } from '../../app/session.tsx'
import { Act } from '../../parts/act.tsx'
import { Failed } from '../../parts/failed.tsx'

export function ChangePlan({ offer }: { offer: OfferedPlan }) {
  const plan = offer.plan as Plan
  return (
    <Act
      title="Change to it"
      permission="plan.write"
      name={`plan.${plan}`}
      isSmall
      isDangerous
      about={<Effects plan={plan} />}
      typed={plan}
      send={(client, _, options) => client.account.plan.update({ plan, confirm: true }, options)}
    />
  )
}

function Effects({ plan }: { plan: Plan }) {
  const client = useClient()
  const query = useQuery({
    queryKey: ['plan-effects', plan],
    queryFn: async (): Promise<readonly FieldError[]> => {
      try {
        // Without a confirmation it changes nothing, and the refusal says what it would change.
        await client.account.plan.update({ plan })
        return []
      } catch (error) {
        if (error instanceof CountersignError && error.code === 'conflict') return error.errors
        throw error
      }
    },
  })
  if (query.isPending) return <Skeleton height={90} />
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  return (
    <Alert color="red" title={`The plan ${plan}`}>
      <ul>
        {query.data
          .filter(({ pointer }) => pointer === '/plan')
          .map(({ code, detail }) => (
            <li key={code}>{detail}</li>
          ))}
      </ul>
      Only the operator of the service gives the larger plan back.
    </Alert>
  )
}
