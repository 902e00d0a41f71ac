import { Kbd, Modal, Table } from '@mantine/core'

const KEYS: readonly [keys: string, does: string][] = [
  ['Ctrl K', 'Search, and go to any page'],
  ['j, k', 'The next and the previous row of a list'],
  ['Enter', 'Open the row'],
  ['Ctrl Enter', 'Confirm the decision that has the focus'],
  ['Esc', 'Close what is open'],
  ['?', 'This list'],
]

export function KeyHelp({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keys">
      <Table>
        <Table.Tbody>
          {KEYS.map(([keys, does]) => (
            <Table.Tr key={keys}>
              <Table.Td>
                <Kbd>{keys}</Kbd>
              </Table.Td>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  )
}
