// What a share shows of a trace: its readings, and the strongest links of its graph.

import type { SharedView } from '@countersign/client'
import { List, Stack, Table, Text, Title } from '@mantine/core'

const MOST_LINKS = 50

export function SharedTrace({ view }: { view: SharedView }) {
  const { trace, disclosure, graph, expiresAt, maskedNodes } = view
  const facts: [string, string][] = [
    ['Trace', trace.traceId],
    ['Model', trace.modelVersionId ?? 'a model of its owner'],
    ['Traced', new Date(trace.createdAt).toLocaleString()],
    ['Shown until', new Date(disclosure?.expiresAt ?? expiresAt).toLocaleString()],
    ['Masked neurons', String(maskedNodes)],
    ...(disclosure === null ? [] : [['Disclosed to you', disclosure.nodeIds.join(', ')] as [string, string]]),
  ]
  return (
    <Stack component="article" gap="sm">
      <Table>
        <Table.Tbody>
          {facts.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{name}</Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Title order={2} size="h4">
        Canary readings
      </Title>
      <List>
        {(trace.canary?.readings ?? []).map(({ family, score, threshold, tripped }) => (
          <List.Item key={family}>
            {`${family}: ${score} (threshold ${threshold})${tripped ? ', tripped' : ''}`}
          </List.Item>
        ))}
      </List>
      {graph !== null && <Graph graph={graph} hasPositions={view.revealsPrompt} />}
    </Stack>
  )
}

function Graph({ graph, hasPositions }: { graph: NonNullable<SharedView['graph']>; hasPositions: boolean }) {
  const names = new Map(graph.nodes.map(({ node_id: id, clerp }) => [id, clerp === '' ? id : `${clerp} (${id})`]))
  const strongest = graph.links.toSorted((a, b) => Math.abs(b.weight) - Math.abs(a.weight)).slice(0, MOST_LINKS)
  return (
    <Stack component="section" gap="sm">
      <Title order={2} size="h4">
        Attribution graph
      </Title>
      <Text size="sm">
        {`${graph.nodes.length} nodes and ${graph.links.length} links. `}
        {hasPositions
          ? 'E_5 is the token at position 5 of the text, which is not shown. '
          : 'Neurons are those of the last position of the text; what is before it is one node for each message. '}
        A neuron is named by words at which it was most active.
      </Text>
      <Title order={3} size="h5">
        Strongest links
      </Title>
      <List size="sm">
        {strongest.map(({ source, target, weight }) => (
          <List.Item key={`${source} ${target}`}>
            {`${names.get(source)} → ${names.get(target)}: ${weight.toPrecision(4)}`}
          </List.Item>
        ))}
      </List>
    </Stack>
  )
}
