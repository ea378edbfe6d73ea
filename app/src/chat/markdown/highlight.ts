/** Code → coloured code. A chunk of its own, loaded when the first code is shown. */
import { common, createLowlight } from 'lowlight';
import { createElement, type ReactNode } from 'react';

const lowlight = createLowlight(common);

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

/** The code with its words in spans, or `null` where the language is not known. */
export function highlight(language: string, code: string): ReactNode[] | null {
  if (!lowlight.registered(language)) return null;
  return lowlight.highlight(language, code).children.map(element);
}

function element(node: Node, key: number): ReactNode {
  if (node.type === 'text') return node.value;
  if (node.type !== 'element') return null;
  const names = node.properties.className;
  const className = Array.isArray(names) ? names.join(' ') : undefined;
  return createElement('span', { key, className }, ...node.children.map(element));
}
