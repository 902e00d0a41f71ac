import { readFileSync } from 'node:fs'
import { decodeModel } from './src/trace/onnx/proto.ts'
const m = decodeModel(readFileSync(process.argv[2] + '/model.onnx'))
console.log(m.producer, m.operatorSets, m.graph.nodes.length, m.graph.outputs[0], m.graph.inputs.slice(0,4).map(x=>[x.name,x.dims]))
for (const n of m.graph.nodes.slice(-60)) console.log(n.operator, n.inputs.join(' , '), '->', n.outputs.join(','))
