// From a slice to the other pages that know its operation, and to the line of code it comes from.
import type {SliceDetail} from '../../../data/trace.ts';

export interface PageLink {
  readonly tool: string;
  readonly filter: string;
  readonly ask: Readonly<Record<string, string>>;
}

const valueOf = (detail: SliceDetail, ...keys: readonly string[]): string => {
  for (const key of keys) {
    const value = detail.args.find(([name]) => name === key)?.[1];
    if (value !== undefined && value !== '') return value;
  }
  return '';
};

/** Pages with data in this capture that list the slice's operation. */
export function linksOf(detail: SliceDetail, tools: readonly string[]): readonly PageLink[] {
  const links: PageLink[] = [];
  const hlo = valueOf(detail, 'hlo_op');
  const module = valueOf(detail, 'hlo_module', 'module');
  if (hlo !== '') {
    const program = valueOf(detail, 'program_id');
    // Programs are listed as name(id).
    links.push({
      tool: 'graph_viewer',
      filter: hlo,
      ask: module === '' || program === '' ? {} : {module_name: `${module}(${program})`},
    });
    links.push({tool: 'roofline_model', filter: hlo, ask: {}}, {tool: 'hlo_stats', filter: hlo, ask: {}});
  }
  // "scope/MatMul:MatMul" is an operation and its type.
  const framework = valueOf(detail, 'tf_op').replace(/:[^:/]*$/, '');
  if (framework !== '') links.push({tool: 'framework_op_stats', filter: framework, ask: {}});
  if (valueOf(detail, 'kernel_details', 'grid', 'occupancy_pct') !== '')
    links.push({tool: 'kernel_stats', filter: detail.name, ask: {}});
  return links.filter(link => tools.includes(link.tool));
}

/** "file.py:12" when an argument, or a Python frame's own name, says so. */
export function sourceOf(detail: SliceDetail): string {
  const named = valueOf(detail, 'source', 'source_info', 'source_file');
  const found = /([^\s:()"']+\.[A-Za-z]\w*)[:(](\d+)/.exec(named !== '' ? named : detail.name);
  if (found !== null) return `${found[1]}:${found[2]}`;
  const line = valueOf(detail, 'source_line', 'line');
  return named !== '' && line !== '' ? `${named}:${line}` : '';
}
