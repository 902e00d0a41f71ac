// Bars are the operations of a day, the line their sum since the beginning of the month, against the cap.

import { Text } from '@mantine/core'
import {
  Bar,
  CartesianGrid,
  ComposedChart,
  Legend,
  Line,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts'
import { formatNumber } from '../../parts/measures.ts'
import type { UsageOfDay } from './days.ts'

// Colours that are told apart by those who see no red or green, too.
const COLORS = ['#4f8fba', '#d9a514', '#7a5195', '#8b939c', '#2f7d6d', '#c2703d', '#5b6770', '#a3b86c']

interface UsageChartProps {
  days: readonly UsageOfDay[]
  operations: readonly string[]
  cap: number | null
}

/** An image for those who see it: the table below has every number of it. */
export function UsageChart({ days, operations, cap }: UsageChartProps) {
  const text = { fontSize: 12, fill: 'var(--mantine-color-text)' }
  const rows = days.map(({ day, units, sum }) => ({ day: day.slice(5), ...units, sum }))
  return (
    <div role="img" aria-label="Operations by day, and their sum against the cap" style={{ height: 300 }}>
      <ResponsiveContainer width="100%" height="100%">
        <ComposedChart data={rows} accessibilityLayer={false} margin={{ left: 0, right: 0 }}>
          <CartesianGrid vertical={false} stroke="var(--mantine-color-default-border)" />
          <XAxis dataKey="day" tick={text} minTickGap={16} />
          <YAxis yAxisId="day" allowDecimals={false} width={52} tick={text} tickFormatter={formatNumber} />
          <YAxis
            yAxisId="sum"
            orientation="right"
            allowDecimals={false}
            width={84}
            tick={text}
            tickFormatter={formatNumber}
          />
          <Tooltip
            contentStyle={{ background: 'var(--mantine-color-body)' }}
            itemStyle={{ color: 'var(--mantine-color-text)' }}
            cursor={{ fillOpacity: 0.2 }}
          />
          <Legend
            wrapperStyle={{ fontSize: 12 }}
            formatter={(value) => (
              <Text span size="xs" c="var(--mantine-color-text)">
                {value}
              </Text>
            )}
          />
          {operations.map((operation, index) => (
            <Bar
              key={operation}
              yAxisId="day"
              dataKey={operation}
              name={operation.replaceAll('_', ' ')}
              fill={COLORS[index % COLORS.length]}
              stackId="all"
              maxBarSize={48}
              isAnimationActive={false}
            />
          ))}
          <Line
            yAxisId="sum"
            dataKey="sum"
            name="sum of the month (right)"
            stroke="var(--mantine-color-text)"
            dot={false}
            isAnimationActive={false}
          />
          {cap !== null && (
            <ReferenceLine
              yAxisId="sum"
              y={cap}
              stroke="#b3261e"
              strokeDasharray="4 4"
              ifOverflow="extendDomain"
              label={{ value: 'cap', position: 'insideBottomLeft', ...text }}
            />
          )}
        </ComposedChart>
      </ResponsiveContainer>
    </div>
  )
}
