// Types of tables.js, in which build.py writes the metrics and parameters of the Python package.
import type {Setting} from "./viewer/report_data.js";

/** Description of a parameter. `hints`: its names in other programs. */
export type ParameterDeclaration = {
  name: string;
  kind: "flag" | "choice" | "number" | "whole" | "numbers";
  optional: boolean;
  choices: string[];
  minimum: number;
  maximum: number | null;
  hints: string[];
};
export const version: string;
/** Code points: pairs of an uppercase letter and its lowercase letter. */
export const lowercase: number[];
export const metrics: Setting[];
/** Parameters per kind of metric: "BLEU", "chrF", ... */
export const parameters: Record<string, ParameterDeclaration[]>;
