import {expect, test} from 'vitest';
import type {Report, ReportTable} from '../../data/profile.ts';
import {addMessages} from '../../text/messages.ts';
import messages from './messages.json';
import {reportHtml, stepsSvg, tableHtml} from './report-file.ts';
addMessages(messages);

const table: ReportTable = {
  id: 'ops',
  title: 'Operations <1>',
  total: 40,
  columns: [
    {id: 'name', label: 'Name', type: 'text'},
    {id: 'time', label: 'Time', type: 'number', unit: 'us'},
  ],
  rows: Array.from({length: 40}, (_, i) => [`<script>alert(${i})</script>`, i]),
};

test('names of operations are text, never markup', () => {
  const html = tableHtml(table);
  expect(html).not.toContain('<script');
  expect(html).toContain('&lt;script&gt;alert(0)&lt;/script&gt;');
  expect(html.match(/<tr>/g)).toHaveLength(26); // the head and the first 25
  expect(html).toContain('25 of 40 rows');
});

test('steps are bars whose heights are their parts', () => {
  const svg = stepsSvg(
    {
      id: 'step_times',
      title: '',
      total: 2,
      columns: [
        {id: 'stepnum', label: '', type: 'text'},
        {id: 'infeedTimeMs', label: 'Input', type: 'number', unit: 'ms'},
        {id: 'otherTimeMs', label: 'Other', type: 'number', unit: 'ms'},
      ],
      rows: [
        ['0', 3, 1],
        ['1', 1, 1],
      ],
    },
    () => '#123456',
  );
  expect([...svg.matchAll(/width="360.0" height="([\d.]+)"/g)].map(match => Number(match[1]))).toEqual([
    135, 45, 45, 45,
  ]);
});

test('the file holds notes, findings and sections, and nothing from elsewhere', () => {
  const report = {
    tool: 'overview_page',
    title: 'Overview',
    inferred: [],
    figures: [{id: 'a', label: 'Step', value: 2, unit: 'ms'}],
    tables: [table],
    charts: [],
    findings: [{id: 'X', rank: 1, severity: 'major', fired: true, text: 'slow & steady', numbers: {}, evidence: []}],
    missing: [],
    diagnostics: [],
  } as Report;
  const html = reportHtml('A "run"', 'train/s1', '# Why\n**big** batch', [report], 'today');
  expect(html).toContain('<title>A &quot;run&quot;</title>');
  expect(html).toContain('<h3>Why</h3><p><strong>big</strong> batch</p>');
  expect(html).toContain('slow &amp; steady');
  expect(html).not.toMatch(/src=|https?:|<link/);
});
