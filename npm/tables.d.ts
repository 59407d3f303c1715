// What build.py writes into tables.js: what truebleu in Python says of its metrics.
import type {Setting} from "./viewer/report_data.js";

/** A parameter that can be chosen. `hints`: what other programs call it. */
export type Declared = {
  name: string;
  kind: "flag" | "choice" | "number" | "whole" | "numbers";
  optional: boolean;
  choices: string[];
  least: number;
  most: number | null;
  hints: string[];
};
export const version: string;
/** Code points: a capital letter and its small one, in turn. */
export const lowercase: number[];
export const metrics: Setting[];
/** By what a metric is: "BLEU", "chrF", ... */
export const parameters: Record<string, Declared[]>;
