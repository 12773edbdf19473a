// A mesh as a PLY file (text form), readable by every mesh program.
import {soundFaces, type MeshData} from '../../draw/mesh-paint.ts';

export function plyOf(data: MeshData): string {
  const n = Math.floor(data.vertices.length / 3);
  const faces = soundFaces(data.faces, n);
  const coloured = data.colours.length >= n * 3;
  const lines = [
    'ply',
    'format ascii 1.0',
    `element vertex ${n}`,
    'property float x',
    'property float y',
    'property float z',
    ...(coloured ? ['property uchar red', 'property uchar green', 'property uchar blue'] : []),
    ...(faces.length > 0 ? [`element face ${faces.length / 3}`, 'property list uchar int vertex_indices'] : []),
    'end_header',
  ];
  for (let i = 0; i < n; i++) {
    const xyz = [...data.vertices.subarray(i * 3, i * 3 + 3)];
    lines.push([...xyz, ...(coloured ? data.colours.subarray(i * 3, i * 3 + 3) : [])].join(' '));
  }
  for (let i = 0; i < faces.length; i += 3) lines.push(`3 ${faces[i]} ${faces[i + 1]} ${faces[i + 2]}`);
  return `${lines.join('\n')}\n`;
}
